// Package lane gives every session a single file: messages are stored before
// they are acknowledged, one turn runs at a time, in order, on one node.
//
//	Submit ─▶ inbox (row) ─▶ lane free? ── yes ─▶ take it, open a turn ─▶ run
//	                              │ no                                     │
//	                              ▼                                        ▼
//	                           waits ◀──── the ending looks here ──── turn ends
//
// # Who may write
//
// A lane has a holder, an expiry and a token that only grows. Taking a lane
// adds one to the token; every transaction of a turn checks it. A holder that
// was paused for longer than its lease finds the token changed and cannot write
// any more.
//
// A lane may be taken when it is free, when its lease has expired, or when its
// holder is known to be dead: a process of this home keeps a file locked for as
// long as it lives, and the operating system lets go of it the moment it dies.
// So a restart goes on at once and does not wait for a lease to expire.
//
// # No message falls between
//
// A submission and the ending of a turn both lock the lane's row first.
// Whichever commits first is seen by the other: either the message finds the
// lane free, or the ending finds the message waiting. The transaction that ends
// a turn opens the next one.
//
// # How messages wait
//
// A message that finds its lane free and nothing waiting begins its turn in the
// transaction that accepts it. Package queue decides about the others: which
// enter the turn that runs, stop it, make room, or become the next turn, and
// whether those are let be until nothing more comes for a while. The lane is
// free meanwhile; a timer wakes it, and any process that looks finds them.
//
// # States of a lane
//
//	free ─▶ held ─▶ free            taken by Submit, Wake or a takeover
//	        held ─▶ held (next turn) when something waits at the end of a turn
//	        held ─▶ held (token+1)   taken over from a holder that died
//
// A turn that waits for a person holds no lane; messages for its thread wait
// behind it. A turn that waits for results of offered tools holds none either.
// Results enter it in the transaction that accepts them, which makes it ready
// and takes the lane if that is free; results that nothing waits for are
// refused. Any other message for its thread ends it once the lane comes to that
// message, and so does a day without results.
//
// A turn that was parked (the process was asked to end) or whose journal failed
// leaves its lane free or to be taken over.
//
// # Failure
//
// When an append fails, the run is over and what it had in memory is dropped.
// The lane reads the journal and tries again, three times, then lets go and
// says so; the next start goes on. A run that fails or panics by a fault of
// chela counts like one whose process died, and the third of them ends the turn
// as failed. A turn that waited for its place is not blamed. Those that broke
// two runs go last and one by one, so that a turn that kills every process takes
// no other with it. Losing the lease ends a run silently.
package lane

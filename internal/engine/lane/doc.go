// Package lane serializes each session: messages are stored before they are
// acknowledged, and one turn runs at a time, in order, on one node.
//
//	Submit ─▶ inbox (row) ─▶ lane free? ── yes ─▶ take it, open a turn ─▶ run
//	                              │ no                                     │
//	                              ▼                                        ▼
//	                           waits ◀──── the end checks here ──────── turn ends
//
// # Who may write
//
// A lane has a holder, an expiry and a fencing token that only grows. Taking a
// lane increments the token; every transaction that writes the journal checks it.
// A holder that was paused for longer than its lease finds the token changed and
// cannot write any more.
//
// A lane may be taken when it is free, when its lease has expired, or when its
// holder is known to be dead: each process of a home holds a lock on a file,
// which the operating system releases when the process dies. A restart
// therefore continues at once instead of waiting for leases to expire.
//
// # No lost wakeup
//
// A submission and the end of a turn both lock the lane's row first, so the
// second sees the commit of the first: either the message finds the lane free,
// or the ending turn finds the message waiting. The transaction that ends a
// turn opens the next one.
//
// # How messages wait
//
// What happens to a message is decided by pure functions, whose decisions the
// lane carries out:
//
//	message ─▶ nothing runs or waits? ── yes ─▶ its turn begins at once
//	             │ no
//	             ▼
//	          overflow  over the cap: it is refused, or an older one dropped
//	             │
//	             ▼
//	           plan     it enters the turn, stops it, waits, or becomes a turn
//
// [QueueRules.For] resolves the queue settings first: message, session, channel,
// home, in this order. An accepted message ends in one of three ways: a turn
// takes it; it is dropped and its sender notified; or it is dropped and the next
// turn of its thread begins with a line of it. The lane is free during the
// debounce; a timer wakes it, and the periodic scan of any process finds the
// messages if that process dies.
//
// # States of a lane
//
//	free ─▶ held ─▶ free            taken by Submit, Wake or a takeover
//	        held ─▶ held (next turn) when messages wait at the end of a turn
//	        held ─▶ held (token+1)   taken over from a dead holder
//
// A turn that waits for a person holds no lane; messages for its thread wait
// behind it. A turn that waits for client-side tool results holds none either.
// Results enter it in the transaction that accepts them, which makes it ready
// and takes the lane if it is free; unexpected results are refused. Any other
// message for its thread ends the turn once the lane reaches that message, and
// a day without results ends it as well.
//
// A turn that was parked (at shutdown), or whose journal failed, leaves its
// lane free or to be taken over.
//
// # Journal
//
// A turn is entries, calls, approvals and messages owed. [Lanes] maps them to the
// rows of the store and back: readState loads what a run continues from,
// writeChange stores what came of an action, in a transaction that first checks
// the token. [Turns] reads them for other packages.
//
// # Failure
//
// When an append fails, the run ends and its unsaved state is dropped. The lane
// reloads the journal and retries three times, then releases the lane and
// reports the error; the next start continues the turn. A run that fails or
// panics by a fault of chela counts as a crash, and the third crash ends the
// turn as failed. A turn waiting for a slot is not charged with a crash of the
// process. Turns with two crashes run last and one at a time, so that a turn
// that kills every process does not take other turns with it. Losing the lease
// ends a run without a message.
package lane

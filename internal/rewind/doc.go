// Package rewind moves the head of a thread along its tree: undo, redo and
// restore, and names and copies places in it: checkpoints and branches. It puts
// files and documents back that the turns in between have written; entries are
// never changed or removed.
//
//	          ┌─ a turn runs: stop it ─▶ asked ─▶ it ended ─┐
//	request ──┤                            │                ├─▶ look ─▶ planned ─▶ put back ─▶ done
//	          └─ no turn runs ─────────────┼────────────────┘    │
//	                                       └───── refused ◀──────┘ something is not as it was left
//
//	thread    idle, interrupted ─▶ rewinding (with planned) ─▶ idle (with done)
//
// # What is put back
//
// Between the head and the target lies their nearest common ancestor. Calls
// above it on the way from the head are undone, those on the way to the target
// are redone. For each file [Plan] makes one step of it: from what the newest
// call left there to what was there before the oldest. Redo takes back exactly
// what the undo or restore did that brought the head where it is.
//
// Everything else that undone calls did to the world stays, and is listed:
// commands, requests, messages, and what was written without being kept.
//
// # Nothing of others is lost
//
// Before anything is changed, everything must be as the journal says that it was
// left. If it is not, the rewind is refused, the difference shown, and nothing
// is changed. What is changed in the moment between that look and the putting
// back is left as it is, and listed.
//
// # Whoever dies on the way
//
// The look comes before the row: a planned rewind is never refused, but comes to
// its end. Putting back is the same however often it is done, so the process
// that finds a rewind of a dead one goes through it again. Of a node on another
// machine nothing is known but when it last renewed its rewind. While a session has a
// rewind that has not ended, no turn is opened in it; messages wait. The lane
// asks for its rewinds to be finished before it opens a turn, and after a turn
// ended for which one waits.
//
// A request with a key is carried out once: repeated, it is answered with what
// became of it the first time.
package rewind

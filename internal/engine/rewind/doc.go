// Package rewind moves the head of a thread along its tree (undo, redo and
// restore), and creates checkpoints and branches. It restores the files and
// documents written by the turns in between; entries are never changed or
// removed.
//
//	          ┌─ a turn runs: stop it ─▶ asked ─▶ it ended ─┐
//	request ──┤                            │                ├─▶ check ─▶ planned ─▶ restore ─▶ done
//	          └─ no turn runs ─────────────┼────────────────┘    │
//	                                       └───── refused ◀──────┘ content differs from the record
//
//	thread    idle, interrupted ─▶ rewinding (with planned) ─▶ idle (with done)
//
// # Restored content
//
// Calls between the head and its nearest common ancestor with the target are
// undone, calls between that ancestor and the target are redone. For each file
// [Plan] combines them into one step: from the content after the newest call to
// the content before the oldest. Redo reverses exactly the undo or restore that
// led to the current head.
//
// All other effects of undone calls remain and are listed: commands, requests,
// messages, and writes without a pre-image.
//
// # Foreign changes
//
// Before anything is changed, all content must equal the journal's record.
// Otherwise the rewind is refused with a diff, and nothing is changed. Content
// changed by others between this check and the restoration is kept, and listed.
//
// # Crash recovery
//
// The check precedes the commit of the plan: a planned rewind is never refused,
// but always completed. Restoration is idempotent, so a process that finds a
// rewind of a dead one repeats it. A node on another machine counts as dead
// when it has not renewed its rewind for a while. While a session has an
// unfinished rewind, no turn is opened in it and messages wait. The lane has
// its rewinds finished before it opens a turn, and after the end of a turn that
// a rewind waits for.
//
// A request with a key is idempotent: a repetition returns the first result.
package rewind

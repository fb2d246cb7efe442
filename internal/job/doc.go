// Package job does background work: jobs, their parts and subagents. Each has a
// row and a session of its own, and runs as turns of that session's lane.
//
//	Create ─▶ pending ──dispatch──▶ in_progress ◀──────▶ awaiting_approval
//	             ▲                      │  its turns run; or it waits for others
//	             │                      ▼
//	         Restart,     completed ─▶ submitted ─▶ accepted
//	         Modify ◀──── failed, interrupted, cancelled
//
// # How a job gets on
//
// Nothing here waits. Each step is a transaction that moves the row, writes what
// happened to its story and leaves work for the next step:
//
//	dispatch   gives free places to pending jobs: the most urgent, of those the oldest
//	begin      sends a message into a job's session
//	follow     looks how far a job is, whenever one of its turns moved or a job that
//	           it asked for ended, and moves its row
//	announce   tells a session how what it asked for ended
//	archive    takes the session of an ended job out of the lists
//
// What follow does is a pure function of what it finds, [Next]. It looks at how
// things are, not at what happened: called late, twice or out of order it comes to
// the same.
//
// # What is promised
//
//   - A request repeated makes no second job, a message sent again no second
//     turn, an ending announced again no second message: all have keys.
//   - No more jobs than may are given places, however many processes do that. A job
//     that waits for a person or for jobs that it asked for has none, and takes one
//     back when it goes on even if that is one too many: so none waits for itself.
//   - A job ends once all its messages have had their turns and all that it asked
//     for have ended and been told to it. Steps of its plan that are open then
//     are asked for, twice.
//   - What failed or was stopped takes along what it asked for, as nobody would hear
//     of that any more.
//   - The ending of a job enters the session that asked for it once, or nobody
//     asked. Endings of parts enter their job's session together, in the order in
//     which the parts were asked for.
//
// # Failure
//
// Every handler may be called again after it did its work. Where the process ends
// between a transaction and what follows from it, the work of the next step is
// there, or that of the step is. A message that cannot be sent ends its job as
// failed; an ending that cannot be told is kept in the story.
package job

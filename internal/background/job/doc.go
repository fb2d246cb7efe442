// Package job runs background work: jobs, their parts and subagents. Each has a
// row and a session of its own, and runs as turns of that session's lane.
//
//	Create ─▶ pending ──dispatch──▶ in_progress ◀──────▶ awaiting_approval
//	             ▲                      │  its turns run; or it waits for others
//	             │◀── Resume, paused ◀──┤  by Pause, also while it is pending
//	             │                      ▼
//	         Restart,     completed ─▶ submitted ─▶ accepted
//	         Modify ◀──── failed, interrupted, cancelled
//
// # Progress of a job
//
// No goroutine waits for a job. Each step is a transaction that moves the row,
// records an event in the job's story and enqueues the work of the next step:
//
//	dispatch   assigns free slots to pending jobs by priority, then by age
//	begin      sends a message into a job's session
//	follow     re-evaluates a job when one of its turns moved or a job that it
//	           requested ended, and moves its row
//	announce   reports the ending of a job to the session that requested it
//	archive    removes the session of an ended job from the lists
//
// The decision of follow is a pure function of the stored state, [Next]. It
// does not depend on the order or number of calls: called late, twice or out of
// order, it reaches the same result.
//
// # Guarantees
//
//   - Requests, messages and announcements are idempotent: a repeated request
//     makes no second job, a repeated message no second turn, a repeated
//     announcement no second message. All carry keys.
//   - The number of jobs in progress stays within the limit across processes. A job
//     that waits for a person or for jobs that it requested releases its slot. It
//     takes a slot back when it continues, even above the limit, so that a job
//     cannot deadlock on its own children.
//   - A job ends after all its messages have had their turns and all jobs that it
//     requested have ended and been reported to it. If steps of its plan are still
//     open then, it is reminded of them, twice at most.
//   - A failed or stopped job cancels the jobs that it requested, because their
//     endings would have no reader.
//   - The ending of a job enters the session that requested it exactly once. A job
//     without a requester is not announced. Endings of parts enter their job's
//     session together, in the order of the requests.
//
// # Failure
//
// Every handler is idempotent. If the process ends between a transaction and
// its follow-up, the enqueued work is still in the store and runs in the next
// process. A message that cannot be sent ends its job as failed; an ending that
// cannot be reported is recorded in the story.
package job

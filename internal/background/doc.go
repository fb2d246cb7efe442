// Package background wires the asynchronous subsystems (jobs, routines,
// notices) onto the durable work queue, and repairs what does not get on.
//
// # Repair
//
// A supervisor detects stuck turns and broken tools, retries or disables them,
// and notifies the owner.
//
//	turn quiet for too long ─▶ run cut off ─▶ turn retried ─▶ continues
//	                              ▲                │ quiet again
//	                              └── twice more ──┘
//	                                               └─▶ the third time the turn fails
//	                                                   and the owner is notified
//
//	tool fails by its own fault 5 times in a row ─▶ off ─▶ after a cooldown one call is
//	let through as a probe ─▶ success: on again · failure: off for twice as long
//
// Health is judged by progress, not by age. A turn is stuck if it produced no
// sign for too long: no output of the model, no output of a tool, no step. A
// running call may stay silent for as long as its own timeout plus a grace
// period, even if that is longer. Only the process that runs a turn sees these
// signs, so each process watches its own turns. Turns of dead processes are
// adopted by the lanes; the supervisor re-evaluates their jobs.
//
// A run that died with its process, or failed by an internal error, counts like
// a run that was cut off; the lane that adopts it does the counting. A job
// whose runs keep dying is left to the owner in the same way as a job that
// keeps getting stuck.
//
// A run is cut off as if its process had died, so recovery takes the same path
// as after a crash: the journal decides which calls are repeated, and the model
// is told of a call that may or may not have happened. Each repair of a job's
// turn is also an event in the job's story.
//
// Each repair has one of three outcomes: success, retry or manual_required.
// Rebuilding tools is not implemented, so a tool that does not recover is
// manual_required.
package background

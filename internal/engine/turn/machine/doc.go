// Package machine is the pure part of a turn: [Fold] computes its state from
// the record, and [Next] its next action. There is no clock, no I/O, no
// randomness. Inputs of Next beside the state are [Facts]; package turn gathers
// them, performs the action, and appends the [Change].
//
// # Decision table
//
// The first matching row decides.
//
//	state                                       action
//	the turn has ended                          Done
//	three crashes in it                         Finish(failed)
//	a call of ours is marked running            Resolve: a dead run began it
//	a stop was requested, or time is up         Finish(interrupted | limited)
//	the model request failed                    Finish(failed)
//	calls not yet judged                        Judge
//	a pending approval                          Wait
//	handed-out calls without a result           Wait
//	the turn executes a command                 Compact, then Finish(completed)
//	steering messages, a batch is done          Absorb
//	only client-side calls are open             HandOut
//	the first open call needs an approval       Ask
//	open calls that may run                     RunTools: adjacent reads, or one
//	                                            call with side effects
//	a memory flush is in progress               CallModel
//	the loop guard fires                        CallModel with a note | Finish(limited)
//	an answer with a call as text               CallModel with a note, once
//	an answer without calls                     Finish(completed | limited)
//	no steps left                               Finish(limited)
//	a compaction is near, and no flush yet      CallModel with a note (a flush)
//	the prompt is too large                     Compact, else Finish(failed)
//	anything else                               CallModel
package machine

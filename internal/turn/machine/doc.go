// Package machine is what a turn is apart from doing it: [Fold] tells what its
// record comes to, and [Next] what it does next. Both are pure: no clock, no I/O,
// no randomness. What Next needs beside the state comes in as [Facts]; package
// turn gathers them, performs the action, and appends the [Change].
//
// # What comes next
//
//	state shows                                 action
//	the turn has ended                          Done
//	three processes died in it                  Finish(failed)
//	a call of ours found running                Resolve: a dead run began it
//	somebody asked to stop, or time is up       Finish(interrupted | limited)
//	the model could not be asked                Finish(failed)
//	calls not yet judged                        Judge
//	a question waits for its answer             Wait
//	calls that were handed out have no result   Wait
//	the turn carries out a command              Compact, then Finish(completed)
//	messages to steer by, a batch is done       Absorb
//	only calls of offered tools are open        HandOut
//	the first open call needs an answer         Ask
//	open calls that may run                     RunTools: neighbouring reads, or one
//	                                            call with an effect
//	notes for the memory are being written      CallModel
//	the model goes in circles                   CallModel with a note | Finish(limited)
//	an answer with a call written out           CallModel with a note, once
//	an answer without calls                     Finish(completed | limited)
//	no steps left                               Finish(limited)
//	a compaction is near, and no notes yet      CallModel with a note (a flush)
//	the prompt is too large                     Compact, else Finish(failed)
//	anything else                               CallModel
package machine

// Package repair finds what is stuck or broken, mends what can be mended, and tells
// the owner of it.
//
//	turn quiet for too long ─▶ its run is cut off ─▶ the turn runs again ─▶ goes on
//	                                 ▲                        │ quiet again
//	                                 └──── twice more ────────┘
//	                                                          └─▶ the third time it is failed,
//	                                                              and left to the owner
//
//	tool fails by its own fault 5 times in a row ─▶ off ─▶ after a while one call is let
//	through as a probe ─▶ works: on again · fails: off for twice as long
//
// # Found by progress
//
// What runs is not judged by its age. A turn is stuck when nothing was heard of it
// for too long: no word of the model, no output of a tool, no step. A call that runs
// has as long as its own limit says, and a little more, even if that is longer. Only
// the process that runs a turn hears that, so each looks after its own; turns of
// processes that died are taken up elsewhere, and their jobs are looked at again here.
//
// # What is done
//
// A run that died with its process, or broke by a fault of chela, is counted like one
// that was cut off, by the lane that takes it up. A job whose runs die again and again
// is left to the owner like one that is stuck again and again.
//
// A run is cut off as if its process had died, so that nothing is done that a crash
// would not do: the journal decides what is repeated, and a call that may or may not
// have happened is told to the model as that. Of a job each repair is an event of
// its story, too.
//
// Each repair has one of four outcomes: success, retry, failed or manual_required.
// Tools that are built by chela will be built anew; until then a tool that does not
// recover is manual_required.
package repair

// Package routine makes stored routines fire: a row says what is wanted, a message
// enters a lane, the turn is followed, and its ending says what people are told.
//
//	time ──▶ work "fire" ─┐
//	message ─▶ Hears ─────┤                        guards
//	request ─▶ Hook ──────┼─▶ run (unique key) ──────┬────▶ skipped, with a reason
//	event ──▶ work "listen"┤                         │
//	person ─▶ Fire ───────┘                          ▼
//	                                              pending ──place free?──▶ running ──▶ ok, failed
//	                                                       work "run"        │ ▲
//	                                     message into a lane, job, note, notice  └ Follow, JobEnded
//
// # Exactly once
//
// A run is unique by its key in the routine: the due time, the message, the
// delivery, the event. Whoever adds it a second time finds it there. The
// transaction that adds the run of a due time moves the routine to the next one, and
// is refused if the routine was not due at that time any more. What a run does is
// keyed by its id: the message in the inbox, the job, the note, the notice. So a
// handler may run again after a crash, and two processes may try the same.
//
// # Due times
//
// The next time is computed from the last due time, never from the clock, so that a
// clock that jumps neither doubles nor loses any. A time counts as missed when it is
// more than a minute over; what becomes of it the routine says (see chela.Missed). Of
// many that are to fire one by one, the newest hundred do, and the first of them
// counts the others.
//
// # Guards
//
// A guard never loses a firing: it adds the run as skipped, with the reason.
// Whoever fires a routine by hand passes all guards. A run that has no place waits,
// oldest first.
//
// # Places
//
// So many runs may be running at once, and of each routine as many as its guard says.
// Of those of one routine the one that was due first begins first, and whoever begins
// or ends wakes the next. A run that waits for a person, or whose job waits, gives its
// place back and takes one when it goes on, even if that is one too many; to the guard
// of its routine it counts all the while.
//
// # Locks
//
// Transactions lock in one order: the job, the lane, then the routines, all that they
// need by their ids, then runs. Only whoever gives a place away locks all runs.
//
// # Endings
//
// One transaction stores what the run said, judges the routine (failures in a row, its
// end after too many), tells people as the routine wants, leaves a note for the main
// session, gives the place to the next run and forgets the oldest ones. Package
// notice finds out where people are told.
package routine

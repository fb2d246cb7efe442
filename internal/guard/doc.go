// Package guard notices that a model goes in circles. It keeps a small record
// of what a turn has seen, and says from it what should happen before the model
// is asked again. Everything here is pure, and the record is folded from the
// journal alone, so a turn that another process goes on with knows the same.
//
// # What counts
//
//   - A call is known by its tool and its canonical arguments. It fails if it
//     failed or was denied.
//   - A step brings something new if its text, or the outcome of one of its
//     calls, was not seen before in this turn.
//   - A turn gets on if a call was done and came to something new.
//
// # What follows
//
//	the same call failed Repeats times    a note to the model
//	Idle steps in a row brought nothing   a note to the model
//	either again after a note             the turn ends
//	the turn gets on, or a person speaks  what was noted is forgiven
//	an answer ends in a call written out  one note, up to Nudges times
//
// So a test that fails after each of ten edits is no loop, as the edits come to
// something new between its failures; it is worth a note at most.
//
// # Size
//
// The record holds the newest [maxSeen] outcomes as hashes and the newest
// [maxFailing] failing calls. What goes in wider circles than that is ended by
// the limit of steps.
package guard

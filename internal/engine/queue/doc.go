// Package queue decides what happens to the messages that wait in a lane. It is
// pure: the lane calls it and carries out its decisions.
//
//	message ─▶ nothing runs or waits? ── yes ─▶ its turn begins at once
//	             │ no
//	             ▼
//	           Room  over the cap: it is refused, or an older one dropped
//	             │
//	             ▼
//	           Plan  it enters the turn, stops it, waits, or becomes a turn
//
// Rules.For resolves the queue settings first: message, session, channel, home,
// in this order. An accepted message ends in one of three ways: a turn takes
// it; it is dropped and its sender notified; or it is dropped and the next turn
// of its thread begins with a line of it (Note).
package queue

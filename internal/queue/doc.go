// Package queue decides what becomes of messages that wait in a lane. It is
// pure: the lane looks, asks, and does what it is told.
//
//	message ─▶ nothing runs or waits? ── yes ─▶ its turn begins at once
//	             │ no
//	             ▼
//	           Room  more than may wait: refused, or an older one goes
//	             │
//	             ▼
//	           Plan  enters the turn, stops it, waits, or is taken
//
// What a message asks for is settled first (Rules.For): itself, its session, its
// channel, its home, in this order. A message that was accepted is taken by one
// turn, or is dropped and its sender told, or is dropped and the next turn
// of its thread begins with a line of it (Note); there is no fourth way.
package queue

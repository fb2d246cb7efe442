// Package client speaks with the daemon of a home over the Unix socket of that
// home, for the commands. What it returns, and how it fails, is what a home that
// was opened in this process would do.
//
//	Ask:  subscribe ─▶ send ─▶ turn known? ── no ─▶ wait, send again ─┐
//	                               │ yes  ◀────────────────────────────┘
//	                               ▼
//	                 show events ⇄ look at the turn ─▶ it ended, or waits
//
// # Events and facts
//
// Events are subscribed to before a message is sent, so that nothing of its turn
// is missed. They say when to look; what a turn came to is always read from the
// turn itself, so an event that never came costs time and nothing else.
//
// # A daemon that goes away
//
// A stream that breaks is opened again from the cursor of its newest durable
// event: durable events are shown once each and in order, hints of the time
// between are lost. While a message is sent or a turn followed, whatever gets
// no answer is tried again for 30 seconds, in which a daemon can be started
// again; a message has a name, so it is accepted once however often it is
// sent. What has no turn to wait for fails at once.
package client

// Package client is the commands' client of a home's daemon, over the Unix
// socket of that home. It returns the same results and errors as a home opened
// in the same process.
//
//	Ask:  subscribe ─▶ send ─▶ turn known? ── no ─▶ wait, send again ─┐
//	                               │ yes  ◀────────────────────────────┘
//	                               ▼
//	                 show events ⇄ look at the turn ─▶ it ended, or waits
//
// # Events and state
//
// Events are subscribed to before a message is sent, so that no event of its
// turn is missed. They only trigger reads; the outcome of a turn is always read
// from the turn itself, so a lost event costs time and nothing else.
//
// # Restarts of the daemon
//
// A broken stream is reopened from the cursor of its newest durable event:
// durable events are shown once each and in order, transient events in between
// are lost. While a message is sent or a turn followed, a request without an
// answer is retried for 30 seconds, so that a daemon can be restarted; a
// message has an id, so it is accepted once however often it is sent. Requests
// outside a turn fail at once.
package client

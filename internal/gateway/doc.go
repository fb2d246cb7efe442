// Package gateway serves a home over HTTP: messages in, events out, everything
// that can be read or decided, and an API that programs made for OpenAI's speak.
//
//	request ─▶ limits ─▶ host, origin ─▶ who asks ─▶ scope ─▶ route ─▶ answer
//	           (bytes,   (DNS rebinding,  (token,     (read,   (calls one
//	            time,     other sites)     cookie,     chat,     method of the
//	            rate)                      socket)     admin)    home)
//
// The list of routes is one table (routes.go); the mux, the check of scopes and
// the OpenAPI document are made of it, so there is no route without a scope
// and none that is not documented. What comes before the route is package edge.
//
// # Who asks
//
// A bearer token of the home, the cookie of a page that was logged in with one,
// or the Unix socket of the home, which only its owner can open and which may do
// everything. Being on the same machine or behind a proxy is no proof of
// anything: addresses and forwarded headers decide nothing. A request by cookie
// that changes something must also come from the page itself (Origin) and bring
// the page's CSRF token.
//
// # Messages and events
//
// Whoever may send a message speaks for the owner: it is the owner who made the
// token. Each token is an account of its own, and so is the socket, so that the
// message ids of two programs never meet. A message without an id cannot be told
// from itself sent again.
//
// A message is acknowledged after it was committed. Whoever goes away while a
// turn runs loses nothing: the turn goes on and its answer is in the thread. The
// events that are durable have a cursor, which is the id of the SSE message; a
// reader that comes back with Last-Event-ID gets what it missed first, without
// gap or repeat. If that is not kept any more, the first event is resync: what
// is shown must be read afresh. Deltas and progress are hints, told once. A
// reader that is too slow is cut off and comes back the same way.
//
// A WebSocket carries the same both ways, as frames of JSON: messages, answers
// and a subscription in, receipts and events out. The receipt of a message comes
// before the events of its turn. It is read frame by frame, and nothing is queued
// for its client.
//
// # Limits
//
// Everything that comes in is bounded: bytes of headers and bodies, the time a
// client may take to send them, connections, messages a minute for each token,
// attempts to log in for each address, turns that wait. What is over a limit is
// answered with 429 and Retry-After, or 413, or 503 for connections. A body gets
// ten seconds, and a second more for each 64 KiB of it that came.
package gateway

// Package gateway serves a home over HTTP: messages in, events out, every
// readable resource and decision, and an OpenAI-compatible API.
//
//	request ─▶ limits ─▶ host, origin ─▶ who asks ─▶ scope ─▶ route ─▶ answer
//	           (bytes,   (DNS rebinding,  (token,     (read,   (calls one
//	            time,     other sites)     cookie,     chat,     method of the
//	            rate)                      socket)     admin)    home)
//
// The routes are one table (routes.go); the mux, the scope check and the
// OpenAPI document are generated from it, so no route lacks a scope or
// documentation. The middleware before the routes is package edge.
//
// # Authentication
//
// A bearer token of the home, the cookie of a page that was logged in with one,
// or the Unix socket of the home, which only its owner can open and which may
// do everything. A local address or a proxy proves nothing: addresses and
// forwarded headers are ignored. A request by cookie that changes something
// must also come from the page itself (Origin) and bring the page's CSRF token.
//
// # Messages and events
//
// A client that may send messages speaks for the owner, who created its token.
// Each token is an account of its own, and so is the socket, so that the
// message ids of two programs never collide. A message without an id cannot be
// deduplicated.
//
// A message is acknowledged after it was committed. A client that disconnects
// while a turn runs loses nothing: the turn continues and its answer is in the
// thread. Durable events have a cursor, which is the id of the SSE message; a
// reader that reconnects with Last-Event-ID first gets the events it missed,
// without gap or duplicate. If the log no longer reaches back that far, the
// first event is resync: the reader must reload its state. Deltas and progress
// are transient, sent once. A reader that is too slow is disconnected and
// reconnects the same way.
//
// A WebSocket carries the same both ways, as frames of JSON: messages, answers
// and a subscription in, receipts and events out. The receipt of a message
// comes before the events of its turn. It is read frame by frame, without a
// queue of outgoing frames.
//
// # Limits
//
// Every input is limited: bytes of headers and bodies, the time a client may
// take to send them, connections, messages a minute for each token, login
// attempts for each address, queued turns. A request over a limit is answered
// with 429 and Retry-After, or 413, or 503 for connections. A body gets ten
// seconds, and a second more for each 64 KiB received.
package gateway

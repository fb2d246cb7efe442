// Package egress is the way from a sandbox to the network: an HTTP proxy that
// decides about each host, keeps credentials out of the sandbox and records
// every request.
//
//	program ──CONNECT host:443──▶ proxy ── allowed? ──▶ guarded dialer ──▶ host
//	          Proxy-Authorization: the token of the run
//
// Everything a run may do is in its [Run]: which hosts it reaches, which secrets
// it uses, how much it transfers. A connection without the token of a live run is
// refused before anything is read from it.
//
// # Credentials
//
// The sandbox never holds a secret. It holds a sentinel, a random text that
// stands for one, and the proxy replaces it in the header fields, the query and
// the path of requests to hosts that the secret is bound to. For these hosts the
// proxy terminates TLS with a certificate authority that exists for the run only;
// connections to all other hosts are passed through unread. A sentinel in a
// request to any other host that the proxy can read ends the request.
//
// # States of a connection
//
//	accepted ─▶ authorized ─▶ allowed ─┬─▶ tunneled  (bytes, unread)
//	    │            │                 └─▶ terminated (requests, read) ─▶ closed
//	    └─ 407       └─ 403, 429
package egress

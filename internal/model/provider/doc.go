// Package provider holds middleware for providers. Each wrapper takes providers
// and is one itself, and works alone; the complete chain has one order,
// outermost first:
//
//	recording → cache → takeover → Breaker → Failover → Rotate → Retry → Fallback → meter → Limit → provider → LimitBody → Idle
//
// Recordings are in package record. Takeover and meter belong to the ledger
// (internal/engine/cost): takeover settles requests of dead processes, and
// meter books each single request, since each may be billed. LimitBody and Idle
// wrap the transport between a provider and its server.
//
// # Restarted streams
//
// A stream may break after its reader has seen part of the answer. The wrapper
// that retries sends [chela.Chunk.Anew] right before the first replacement
// chunk, and not earlier, so that the partial answer stays visible until there
// is a better one. A reader that cannot retract text must stop there.
// [chela.Chunk.Unseen] counts need no retraction.
//
// # Hasty requests
//
// A wrapper that has an alternative sets [chela.Request.Hasty]. Retry then does
// not wait out a requested delay, so a rate limit moves the request to the next
// key or model at once. Neither is a server asked again that took a request and
// sent nothing.
//
// # States
//
// Retry, for one request. The backoff is 1 s, 2 s, 4 s … as configured, with up
// to half of it removed as jitter, or the provider's Retry-After; never more
// than [LongestWait]:
//
//	asking ─▶ answered
//	asking ─▶ waiting ─▶ asking       a Retryable error, attempts left
//	asking ─▶ failed                  any other error
//
// Rotate, for each key, and Failover, for each model. A cooldown lasts for the
// provider's Retry-After, else as configured:
//
//	ready ─▶ resting                  the key was refused or is used up; the model
//	                                  failed
//	resting ─▶ ready                  the cooldown is over, or all others are in
//	                                  cooldown too and a request succeeded
//
// Breaker, for everything behind it:
//
//	closed ─▶ open                    too many consecutive failures
//	open ─▶ trial                     the open time is over: one request passes
//	trial ─▶ closed                   any response
//	trial ─▶ open                     another failure
//
// Idle, for each request to a server; each byte resets the timer:
//
//	silent ─▶ alive                   the first byte arrived
//	silent ─▶ given up                no byte for three times the limit, or for the
//	                                  shorter time allowed while another model is ready
//	alive ─▶ given up                 no byte for the limit
//	silent, alive ─▶ ended            by the server or the caller
//
// Cache, for each question:
//
//	unknown ─▶ known ─▶ unknown       a complete answer without calls; expired or
//	                                  evicted
package provider

// Package provider holds what wraps any provider. Each wrapper is a provider
// around providers and works alone; together they stand in one order, outermost
// first:
//
//	recording → cache → takeover → Breaker → Failover → Rotate → Retry → Fallback → meter → provider → Idle
//
// Recordings are in package record. Takeover and meter are the ledger's
// (internal/cost): the one sees to what a dead process has asked, the other to each
// single request, as each may have to be paid. Idle stands between a provider and
// its server, where bytes are seen.
//
// # Begun anew
//
// A stream may break after a reader has seen something of it. Whoever asks again
// then passes [chela.Chunk.Anew] on ahead of what comes in place of that, and not
// earlier: until there is something better, what had arrived is the best there is.
// A reader that cannot take text back must end there. Bytes that were only counted,
// [chela.Chunk.Unseen], need no taking back.
//
// # In haste
//
// A wrapper that has another way asks with [chela.Request.Hasty]. Then Retry waits
// for nobody who wants time; a rate limit is met by the next key, or the next
// model, at once.
//
// # States
//
// Retry, for one request; the waits are 1 s, 2 s, 4 s … as configured, less up to
// half by chance, or what the provider asks for, never more than [LongestWait]:
//
//	asking ─▶ answered
//	asking ─▶ waiting ─▶ asking       an error that is Retryable, attempts left
//	asking ─▶ failed                  any other error
//
// Rotate, for each key, and Failover, for each model; a rest lasts as long as the
// provider asks for, else for the cooldown:
//
//	ready ─▶ resting                  the key was refused or is used up; the model
//	                                  could not be had
//	resting ─▶ ready                  its time is over, or it was asked after all
//	                                  because all others rest too, and answered
//
// Breaker, for everything behind it:
//
//	closed ─▶ open                    the last failure of so many in a row
//	open ─▶ trial                     its time is over: one request passes
//	trial ─▶ closed                   anything was answered
//	trial ─▶ open                     it failed again
//
// Idle, for each request to a server; each byte lets the time begin anew:
//
//	silent ─▶ alive                   the first byte of the answer came
//	silent ─▶ given up                nothing came for three times the limit
//	alive ─▶ given up                 nothing came for the limit
//	silent, alive ─▶ ended            as the server or the caller wants
//
// Cache, for each question:
//
//	unknown ─▶ known ─▶ unknown       a whole answer without calls came; its time is
//	                                  over, or there are too many
package provider

// Package wire holds OpenAI's wire formats: requests for chat completions and
// for responses, which become one form, and replies, which become either, plain
// or as server-sent events.
//
// A request is refused if an unsupported field would change the meaning of its
// answer: n=2 never gets one choice, nor a JSON schema prose. Fields that only
// tune the sampling are passed to a bare model that supports them, and listed
// as ignored in the answer of an agent. Unknown fields are ignored.
//
// A plain answer and a streamed one have the same text.
package wire

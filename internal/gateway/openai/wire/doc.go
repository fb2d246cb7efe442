// Package wire holds what goes over OpenAI's protocols: requests for chat
// completions and for responses, which become one form, and replies, which
// become either, plain or as server-sent events.
//
// A request is refused when it asks for what would make the answer another one
// than was asked for and cannot be done: nobody gets one choice for n=2, or
// prose for a JSON schema. Fields that only set how a model speaks are let
// through and named in the answer as ignored. Fields that nobody knows are left
// alone.
//
// A plain answer and a streamed one have the same text.
package wire

// Package openai serves an OpenAI-compatible API: chat completions, responses
// and models, plain and streamed.
//
//	request ─▶ parse ─▶ what was said ─▶ model "chela", "chela/<agent>" ─▶ message ─▶ turn ─▶ trace ─┐
//	           (chat,    (one form for                                                               ├─▶ reply ─▶ write
//	            responses) both)         ─▶ model "provider/model" ─▶ one step of the bare model ────┘   (chat, responses)
//
// # The agent
//
// A request for the agent is a message to a session; the response is the output
// of its turn. The session is named by the header X-Chela-Session, or by the
// field conversation of a response, and by nothing else: user and metadata name
// no session. A word stands for agent:<agent>:http:dm:<token id>.<word>, so
// that equal words of two tokens are two sessions; a session key of another
// kind needs the scope admin. The session has the history, so only the new part
// is sent: the messages after the assistant's last message. User messages are
// joined by a blank line. System and developer messages among them go in front,
// marked as instructions from the client; those before the last answer were
// sent earlier and are not sent again.
//
// A request that names no session brings its whole conversation, as stateless
// clients do, and gets a session of its own. The messages before the new part
// become the history of its thread. An earlier tool call is written there as
// text, because a history holds no calls.
//
// A response can be read again: it is built from the entries of its turn, up to
// the entries of the next message that the turn took. A deleted response is
// NotFound; its entries stay, as all do.
//
// previous_response_id goes on in the thread of that response. A request that
// ends with results of tools goes on in the turn that asked for them, whatever
// else it names. An answer to an approval from a stateless client goes to the
// session that asked, if the message before it is the question.
//
// # Content of the answer
//
// The answer is the assistant's text since the request, or since the end of the
// turn's last wait: the texts of several steps, separated by a blank line. A
// stream carries the same text, piece by piece. Calls of tools offered by the
// client are returned as tool calls, with ids of our own. If the turn waits for
// a person, the text ends with the question and how to answer it. Every answer
// has an object "chela" that names session, thread, turn, the pending approval
// and fields of the request without effect.
//
// The length, the stop sequences and the format that a request asks for apply
// to each model call of the agent's turn. Its own settings decide about
// temperature and the like, and the answer names the fields that had no effect,
// unknown ones included. A bare model is told all parameters that the protocol
// of its provider has. Unsupported fields that would change the meaning of the
// answer are refused as unsupported_parameter: n=2 does not get one choice of
// an agent, nor a JSON schema prose.
//
// # Errors
//
// Errors have OpenAI's form, with the limit that was reached, if any.
// X-Should-Retry says whether the client may retry the request: not once its
// message was committed, because it would be duplicated, and not while a limit,
// or the provider's quota, is exhausted. A turn that a limit ended before its
// first word is such an error. A turn with some text ends as too long answers
// do, and a spending limit adds its notice. A client that disconnects leaves
// its turn running. A retry with the same Idempotency-Key gets the response of
// the first request.
package openai

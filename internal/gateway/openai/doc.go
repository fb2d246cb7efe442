// Package openai serves the API that programs made for OpenAI's speak: chat
// completions, responses and models, plain and streamed.
//
//	request ─▶ parse ─▶ what was said ─▶ model "chela", "chela/<agent>" ─▶ message ─▶ turn ─▶ trace ─┐
//	           (chat,    (one form for                                                               ├─▶ reply ─▶ write
//	            responses) both)         ─▶ model "provider/model" ─▶ one step of the bare model ────┘   (chat, responses)
//
// # The agent
//
// A request for the agent is a message to a session; what comes back is what the
// turn said because of it. The session is named by the header X-Chela-Session,
// else by the field user: a session key, or a word that stands for
// agent:<agent>:http:dm:<word>. The session remembers, so only what is new is
// sent: what follows the last message of the assistant. User messages are joined
// by a blank line. System and developer messages among them go in front, marked
// as instructions from the client; those before the last answer were sent
// earlier and are not sent again.
//
// A request that names no session brings its whole conversation, as clients
// without memory do, and gets a session of its own. What came before the new
// part is the history of its thread. An earlier call of a tool is told there as
// text, as a history holds no calls.
//
// previous_response_id goes on in the thread of that response. A request that
// ends with results of tools goes on in the turn that asked for them, whatever
// else it names. An answer to an approval that a client without memory sends
// goes to the session that asked, if the message before it is the question.
//
// # What is answered
//
// The answer is everything the assistant said since the request, or since what
// the turn waited for: the texts of several steps, with a blank line between
// them. A stream carries the same text, piece by piece. Calls of tools that the
// client offered come as tool calls, and their ids are our own. If the turn
// waits for a person, the text ends with the question and how to answer it.
// Every answer has an object "chela" that names session, thread, turn, the
// approval that waits and fields of the request that had no effect.
//
// The agent's own settings decide about temperature, length and the like. What
// would change the meaning of the answer and cannot be done is refused: nobody
// gets one choice for n=2, or prose for a JSON schema.
//
// # Trouble
//
// Errors have OpenAI's form, with the limit that was reached, if one was. They
// say in X-Should-Retry whether the client may send the request again: not once
// its message was committed, as it would be said twice, and not while nothing is
// left of a limit, or at the provider. A turn that a limit ended before its first
// word is such an error. One that had said something ends as too long answers do,
// and a limit of money adds its words. A client that goes away leaves its turn running. One that sends an
// Idempotency-Key again gets the answer of the first request.
package openai

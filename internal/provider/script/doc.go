// Package script is a [chela.Provider] that plays a written scenario: for
// tests, demonstrations and benchmarks. A scenario is a YAML document (JSON is
// YAML too):
//
//	name: two tools
//	past_end: error          # or repeat, or echo
//	window: 32000            # of the model, in tokens; not known if absent
//	record: requests.jsonl   # a file to which each request is appended, on a line
//	turns:
//	  - when: what is        # optional: part of the newest user text, or /a regular expression/
//	    steps:               # the answers to the first, second … request of the turn
//	      - thinking: The person wants two things.
//	        text: Let me look.
//	        calls:
//	          - {tool: time, args: {operation: now}}
//	          - {tool: calc, args: {expression: "1+1"}}
//	      - text: "It is {{result 0}}, and the sum is {{result 1}}."
//	        expect: {result: "2", tools: [calc]}
//
// # Which step is played
//
// The step is a pure function of the request, so a process that was killed and
// restarted at any point plays on as if nothing had happened. A turn begins
// with one or more user messages in a row; their text, joined by line breaks,
// is the user text. The first turn of the scenario whose when matches it is
// played, however often that text is said. Messages that no when matches are
// answered by the turns without a when, in their order. Within a turn, as many
// steps are passed over as there are assistant messages since the user text.
//
// A turn with a note instead of a when answers a remark of the host that matches
// it, as long as that is the newest. What is said to it counts for no other turn.
//
// Past the last turn or step the request is an error; with "past_end: repeat"
// the turns, or the steps, begin again, and with "past_end: echo" the answer is
// the newest message's own text.
//
// # A step
//
//	text, thinking     what is streamed; text may quote {{user}} and {{result N}},
//	                   the N-th tool result since the user text, from 0
//	calls              tool, with args (strings in them may quote as text may)
//	                   or args_raw, which need not be JSON; ref, if not generated
//	stop               end, calls, length or refusal; follows from calls if absent
//	usage              input, output, cache_read, cache_write, reasoning: tokens;
//	                   bytes/4 where absent
//	delay_ms           wait before the first chunk
//	chunk_delay_ms     wait before each further chunk
//	chunk_bytes        cut text and thinking into pieces of at most this size,
//	                   never inside a rune; 16 if absent
//	expect             what must be true of the request; see below
//	fault              what goes wrong; see below
//
// A fault is one of
//
//	status: 429        an HTTP status other than success
//	overflow: true     the prompt is too large for the model
//	cut: true          the stream ends before its end
//	hang: true         nothing more comes until ctx ends
//
// and may have after (chunks that arrive first, 0 if absent, where each call is one
// behind the text; at the latest it strikes before the finish), message, retry_after_ms (with status), and times:
// it strikes only the first so many attempts of the same request. Attempts are
// counted in memory: a restarted process counts from zero.
//
// An expectation that does not hold is an Invalid [chela.ProviderError] that
// says what was expected and what came. Its keys are user, result (the newest
// tool result), system, contains (some message) and lacks (no message), each a
// part of the text or /a regular expression/; failed (of the newest result);
// messages (their number); tools (names that are offered), no_tools (names that
// are not); thinking (the level).
package script

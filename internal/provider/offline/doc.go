// Package offline is a [chela.Provider] that needs no model: fixed rules that
// understand small requests in plain English, such as "what time is it in Tokyo
// and what is 17*23?" or "read a.txt, then write it to b.txt". It is there
// before anything is set up, for first steps, tests and benchmarks.
//
// # How it answers
//
// It looks only at the newest user messages and at what was done since. The
// messages are cut into clauses; each clause is matched against the forms of
// one request per tool, and together they make a plan: steps of calls, those of
// a step at once. What comes next is the first step that was not made yet, or,
// when all were made or one failed, an answer from their results. So every call
// is made at most once in a turn, a restarted process goes on where the other
// stopped, and the same request always has the same answer.
//
// A message that has a part that is not understood is not acted on at all. A
// tool that is not offered is not called; the answer says that it is missing.
package offline

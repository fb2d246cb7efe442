// Package offline is a [chela.Provider] without a model: fixed rules that
// understand small requests in plain English, such as "what time is it in Tokyo
// and what is 17*23?" or "read a.txt, then write it to b.txt". It needs no
// setup and serves first steps, tests and benchmarks.
//
// # How it answers
//
// Only the newest user messages and the steps since then matter. The messages
// are split into clauses, and each clause is matched against the forms of each
// tool's requests. The result is a plan: a sequence of steps with one or
// several calls each. The answer is the first step that has not been made or,
// once all were made or one failed, a text composed from the results. So every
// call is made at most once in a turn, a restarted process continues at the
// same place, and the same request always has the same answer.
//
// If any part of a message is not understood, nothing is done. A call of a tool
// that is not offered is left out, and the answer names the missing tool.
package offline

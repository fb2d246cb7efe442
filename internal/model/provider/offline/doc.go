// Package offline is a [chela.Provider] without a model: fixed rules for the
// requests of first steps, such as "what time is it in Tokyo, and what is 17*23?"
// or "write hello to a.txt, then read a.txt". It needs no setup and serves first
// steps, tests and benchmarks.
//
// Only the newest user messages and the steps since then matter. A message is
// split into clauses, and each clause must match a rule: if any part is not
// understood, nothing is done. The first answer holds the calls of all clauses,
// the second one a text composed of their results. So every call is made at most
// once in a turn, a restarted process continues at the same place, and the same
// request always has the same answer.
package offline

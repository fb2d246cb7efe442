// Package store keeps everything that must survive: sessions, threads,
// entries, turns, tool calls, approvals, the inbox and the outbox, lanes, the
// ledger and the work that waits. It is the only package with SQL in it.
//
// # One text, two engines
//
// Every statement is written once and runs on SQLite and PostgreSQL: $n
// parameters, returning, on conflict, times as integer microseconds UTC, ids
// and JSON as text, booleans as integers. What must differ (opening, classes of
// errors, the triggers that keep the journal append-only) lives in the files
// named after the engines, and in migrations whose name ends in the engine's.
//
// # Transactions
//
// [Store.Read] and [Store.Write] run a function inside a transaction and hand
// it a [Read] or a [Write]; a Read has no method that changes anything.
// Functions given to Write may run more than once (PostgreSQL asks to repeat a
// transaction that met another one) and must not keep what they did in an
// earlier attempt.
//
// On SQLite one goroutine owns the one writing connection. Functions that wait
// together are run one after the other in one transaction, each inside a
// savepoint, and share its commit and its sync:
//
//	Write ─┐
//	Write ─┼─▶ queue ─▶ begin · fn · fn · fn · commit (synced) ─▶ every caller is told
//	Write ─┘
//
// A function that fails is rolled back alone; a commit that fails is told to
// every caller in it. When SQLite ends the transaction under a function (the
// disk is full), each function of the group is run again in one of its own.
// A caller that was told nothing went wrong can lose power the next moment and
// will find its rows.
//
// On PostgreSQL each transaction has one of 16 connections, and what costs is
// the way to the server and back, not the statement. So only what a function
// looks at is sent at once. A statement of which it needs no more than that it
// worked is queued, and goes out with the next one that is sent or with the
// commit; the begin goes with the first:
//
//	begin · Arrive ─▶  Current ─▶  AddMessage ─▶  OpenTurn · AppendEntry · MoveThread · Announce · commit ─▶
//
// A queued statement that fails, or finds nothing to change where it must,
// keeps those behind it from happening, the commit among them, and its error is
// that of the transaction. Whoever has to go on after a Conflict needs a
// statement that is run at once, such as [Write.RenewLane]. On SQLite a queued
// statement runs where it stands.
//
// # Invariants that the schema holds
//
//   - entries and ledger rows are never updated or deleted (triggers)
//   - one entry for each sequence number of a thread
//   - one live turn for each thread
//   - one inbox row for each delivery (channel, account, message id)
//   - one approval for each call, one call for each place in a step
//   - everything belongs to something that exists (foreign keys)
//
// Moves of states go through one function each, which checks the table of
// legal moves and says "where state = from": when no row matched, somebody
// else decided first and the caller gets a Conflict.
//
// # Failure
//
// Errors are classified once, by the engine: Conflict (a row exists, or moved
// meanwhile), Unavailable (locked, connection lost), Exhausted (disk full),
// Denied (read-only), Internal (damaged file, a defect). When the connection
// is lost during a commit, the caller cannot know whether it happened: it
// gets Unavailable and must read before it goes on. A connection that turns out
// to be lost before it did anything is replaced, and the function run again.
package store

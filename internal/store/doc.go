// Package store holds all durable state: sessions, threads, entries, turns,
// tool calls, approvals, the inbox and the outbox, lanes, the ledger, the work
// queue and the documents. Each noun has a file with all its SQL; row.go and
// engine/value.go map rows and columns of every noun. The differences between SQLite
// and PostgreSQL are in engine.
//
// # One SQL text, two engines
//
// Every statement is written once and runs on SQLite and PostgreSQL: $n
// parameters, returning, on conflict, times as integer microseconds UTC, ids
// and JSON as text, booleans as integers. Where the schema must differ, for
// example in the triggers that keep the journal append-only, there are two
// migrations of one name with a suffix per engine.
//
// # Transactions
//
// [Store.Read] and [Store.Write] run a function inside a transaction and pass
// it a [Read] or a [Write]; a Read has no method that changes anything.
// Functions passed to Write may run more than once (PostgreSQL requires a retry
// after a serialization failure), so they must not keep state of an earlier
// attempt.
//
// A statement whose result the transaction does not need is queued: on
// PostgreSQL it is pipelined with the next synchronous statement or with the
// commit. So opening a turn takes four round trips:
//
//	begin · Arrive ─▶  Current ─▶  AddMessage ─▶  OpenTurn · AppendEntry · MoveThread · Announce · commit ─▶
//
// A caller that must continue after a Conflict needs a synchronous statement,
// such as [Write.RenewLane].
//
// # Invariants of the schema
//
//   - entries are never updated or deleted, nor are settled ledger rows (triggers)
//   - one entry per sequence number of a thread
//   - one live turn per thread
//   - one inbox row per delivery (channel, account, message id)
//   - one approval per call, one call per place in a step
//   - one document version per number, and per key of a write
//   - one job per key of a request, one job event per key
//   - no orphans: every row refers to existing rows (foreign keys)
//
// State transitions go through one function each, which checks the table of
// legal moves and updates "where state = from". If no row matches, another
// writer was first, and the caller gets Conflict.
//
// # Failure
//
// Errors are classified once, by the engine: Conflict (a row exists or has
// changed), Unavailable (locked, connection lost), Exhausted (disk full),
// Denied (read-only), Internal (damaged file, a defect). If the connection is
// lost during a commit, its outcome is unknown: the caller gets Unavailable and
// must read before it continues.
package store

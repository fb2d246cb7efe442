// Package store keeps everything that must survive: sessions, threads,
// entries, turns, tool calls, approvals, the inbox and the outbox, lanes, the
// ledger, the work that waits and the documents. All SQL about a noun is in a file of
// it: here, or in a package below, whose methods [Read] and [Write] have as their
// own. How rows are read and written is in rows; what SQLite and PostgreSQL do
// differently is in engine.
//
// # One text, two engines
//
// Every statement is written once and runs on SQLite and PostgreSQL: $n
// parameters, returning, on conflict, times as integer microseconds UTC, ids
// and JSON as text, booleans as integers. Where the schema must differ, for
// example in the triggers that keep the journal append-only, there are two
// migrations of one name whose endings tell the engines.
//
// # Transactions
//
// [Store.Read] and [Store.Write] run a function inside a transaction and hand
// it a [Read] or a [Write]; a Read has no method that changes anything.
// Functions given to Write may run more than once (PostgreSQL asks to repeat a
// transaction that met another one) and must not keep what they did in an
// earlier attempt.
//
// A statement of which its transaction needs no more than that it worked is
// queued: on PostgreSQL it goes out with the next one that is run at once, or
// with the commit. So a turn is opened in four ways to the server and back:
//
//	begin · Arrive ─▶  Current ─▶  AddMessage ─▶  OpenTurn · AppendEntry · MoveThread · Announce · commit ─▶
//
// Whoever has to go on after a Conflict needs a statement that is run at once,
// such as [Write.RenewLane].
//
// # Invariants that the schema holds
//
//   - entries are never updated or deleted, nor ledger rows that have ended (triggers)
//   - one entry for each sequence number of a thread
//   - one live turn for each thread
//   - one inbox row for each delivery (channel, account, message id)
//   - one approval for each call, one call for each place in a step
//   - one version of a document for each number, and for each key of a write
//   - one job for each key of a request, one event of a job for each key
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
// gets Unavailable and must read before it goes on.
package store

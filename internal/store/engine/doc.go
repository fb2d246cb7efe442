// Package engine runs transactions on SQLite or PostgreSQL: opening and
// closing, group commit, error classification and migrations. The tables
// themselves belong to the store.
//
// Differences between the two are in the files named after them: opening,
// connections, commits, error codes, and the horizon of log readers.
//
// # SQLite
//
// One goroutine owns the single writing connection. Functions that wait at the
// same time run in one transaction (group commit), each inside a savepoint, and
// share its commit and its sync:
//
//	Write ─┐
//	Write ─┼─▶ queue ─▶ begin · fn · fn · fn · commit (synced) ─▶ every caller returns
//	Write ─┘
//
// A function that fails is rolled back alone; a failed commit is returned to
// every caller of the group. If SQLite ends the transaction under a function
// (the disk is full), each function of the group is retried in a transaction of
// its own. Once a caller has received success, its rows survive a power
// failure.
//
// # PostgreSQL
//
// There are 16 connections, each for one transaction at a time. Round trips
// dominate the cost, not statements, so only statements whose result is needed
// are sent at once. Other statements are queued and sent together with the next
// synchronous statement or with the commit; the begin is sent with the first
// one:
//
//	begin · Exec ─▶  Query ─▶  Queue · Queue · Queue · commit ─▶
//
// A queued statement that fails, or finds no row to change although it must,
// aborts the statements after it, including the commit, and its error is the
// transaction's. On SQLite a queued statement runs at once.
//
// Two things save more round trips. A read of one query has no begin and no rollback
// ([Database.ReadOnce]); on SQLite that saves two statements of three. And a write may
// assume what is almost always so in place of asking ([Tx.Optimistic]): that a message is
// new, or that a session has no further work. If a statement then finds no row to change,
// the transaction is run again and asks:
//
//	begin · assumed · assumed · commit ─▶ ErrRepeat ─▶ begin · Query ─▶ … commit ─▶
//
// Rows that every message needs and that seldom change need not be read each time:
// [Database.Changes] says whether they were written. A transaction that writes them
// sends a notification with its commit, for which each process has a connection that
// listens:
//
//	Tx.Changed · commit ─▶ this process counts ─▶ Write returns
//	                  └──▶ notification ─▶ the others count, some milliseconds later
//
// While the listener is not connected, nothing counts as unchanged.
//
// Several nodes on several machines may share one database, and their leases
// need one clock: [Database.Now] is the server's.
//
// # Failure
//
// Errors are classified once, where the driver returns them. If the connection
// is lost during a commit, its outcome is unknown: the caller gets Unavailable
// and must read before it continues. A connection that was lost before its
// first statement is replaced, and the function is retried.
package engine

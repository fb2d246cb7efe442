// Package engine runs transactions on SQLite or PostgreSQL. It knows how to open
// and close them, when to commit, what their errors mean and how a schema is
// brought up to date; what the tables are about is the store's.
//
// What the two do differently is in the files named after them: opening,
// connections, commits, classes of errors, and how far readers of a log may
// look.
//
// # SQLite
//
// One goroutine owns the one writing connection. Functions that wait together
// are run one after the other in one transaction, each inside a savepoint, and
// share its commit and its sync:
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
// # PostgreSQL
//
// Each transaction has one of 16 connections, and what costs is the way to the
// server and back, not the statement. So only what a function looks at is sent
// at once. A statement of which it needs no more than that it worked is queued,
// and goes out with the next one that is sent or with the commit; the begin goes
// with the first:
//
//	begin · Exec ─▶  Query ─▶  Queue · Queue · Queue · commit ─▶
//
// A queued statement that fails, or finds nothing to change where it must,
// keeps those behind it from happening, the commit among them, and its error is
// that of the transaction. On SQLite a queued statement runs where it stands.
//
// # Failure
//
// Errors are classified once, where the driver hands them over. When the
// connection is lost during a commit, the caller cannot know whether it
// happened: it gets Unavailable and must read before it goes on. A connection
// that turns out to be lost before it did anything is replaced, and the function
// run again.
package engine

// Package work performs what waits for a time or a retry: a delivery to repeat, a
// routine that fires, a question that expires. Whoever has such a thing adds a
// row in the transaction that makes it necessary, and a handler is called when
// the row is due, in whichever process comes to it first.
//
//	Add, Set ─▶ due ──claim──▶ running ──▶ done (forgotten)
//	             ▲                │ │ └───▶ failed (kept for a day)
//	             └── later, again ┘ │
//	             └── owner is gone ─┘
//
// # What is promised
//
//   - Nothing is performed before its time, and what is due begins within a
//     second where its kind has room.
//   - Of unfinished work there is one piece for each kind and key, and one process
//     performs it.
//   - A row that was committed is performed, whatever ends in between. It may be
//     performed more than once: a process may end after the effect and before the
//     row says so. Handlers must be safe to call again; what must happen exactly
//     once gets there by a key in what it writes, or by [Outcome.Written].
//   - Whoever lost its claim cannot say any more what becomes of the row.
//
// # Claims
//
// A claim is a token that only grows and a lease of 6 s, which its owner renews
// every 2 s. The rows of a process of this machine that has died are due again
// within a second, those of another machine within 7 s. Each claim counts as an
// attempt, but for those that end with the process in good order: rows are then
// given back as they were. An owner that was held up for so long that it lost a
// claim ends its handler, and the one elsewhere is a second attempt.
//
// An engine is one goroutine with one timer for the next row that is due, however
// many wait, and one goroutine for each handler that runs. What other processes
// add is found by a look each second, which reads one row of an index for each
// kind; what this process adds begins at once after [Engine.Nudge].
//
// # Failure
//
// An error is tried again after a second, then two, four and so on to ten
// minutes, less a random part of up to a half. Errors that no retry mends
// (Invalid, NotFound, Unsupported, Denied) and those of the last attempt end the
// work as failed, in one transaction with [Kind.Failed]. A handler that panics
// is an Internal error. While the store fails the engine logs it once and goes
// on looking.
//
// # Processes that end soon
//
// A command without a daemon performs what it added or set itself, and kinds that
// are marked [Kind.Brief]; the rest waits for a process that stays ([Engine.Stay]).
// Before it ends it waits for what is due now by [Engine.Settle].
package work

// Package work is the durable work queue: it performs whatever needs a delay or
// a retry, such as a delivery to repeat, a routine to fire or an approval to
// expire. A caller adds a row in its own transaction, and the first process to
// claim the row when it is due calls the handler of its kind.
//
//	Add, Set ─▶ due ──claim──▶ running ──▶ done (deleted)
//	             ▲                │ │ └───▶ failed (kept for a day)
//	             └── later, again ┘ │
//	             └── owner is gone ─┘
//
// # Guarantees
//
//   - No work is performed before its time, and due work begins within a second if
//     its kind has a free slot.
//   - Unfinished work is unique by kind and key, and one process performs it.
//   - A committed row is performed in spite of crashes, at least once: a process may
//     end after the effect and before the row is updated. Handlers must be
//     idempotent. An effect that must happen exactly once needs a key in the rows
//     that it writes, or [Outcome.Written].
//   - A process that lost its claim can no longer update the row.
//
// # Claims
//
// A claim is a monotonic fencing token and a lease of 6 s, which its owner
// renews every 2 s. Rows of a dead process are due again within a second if it
// ran on this machine, within 7 s otherwise. Each claim counts as an attempt,
// unless the process shuts down in good order; then its rows are released
// unchanged. An owner that is held up for long enough to lose a claim cancels
// its handler; the claim of the other process counts as a second attempt.
//
// An engine runs one goroutine with one timer for the next due row, however
// many rows wait, and one goroutine for each running handler. It polls once a
// second for rows of other processes, reading one index row per kind; rows of
// this process begin at once after [Engine.Nudge].
//
// # Failure
//
// Errors are retried with exponential backoff: one second, doubled up to ten
// minutes, less a random part of up to a half. Permanent errors (Invalid,
// NotFound, Unsupported, Denied) and the error of the last attempt end the work
// as failed, in one transaction with [Kind.Failed]. A panic in a handler is an
// Internal error. While the store is unavailable the engine logs that once and
// continues to poll.
//
// # Short-lived processes
//
// A command without a daemon performs the work that it added or set itself, and
// kinds marked [Kind.Brief]; other work waits for a process that stays
// ([Engine.Stay]). Before it exits it waits with [Engine.Settle] for the work
// that is due.
package work

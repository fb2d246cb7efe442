// Package cost keeps the ledger of model calls and enforces spending limits. A
// call under a limit is reserved before it is made, at its maximum cost, and
// settled when its answer is in the journal:
//
//	            ┌─▶ settled    its answer was appended; the cost is known
//	reserved ───┼─▶ released   it was refused, or never made
//	            └─▶ lost       its answer was cut off, or is unknown
//
// A [Ledger] wraps providers innermost, directly around the HTTP client: each
// request has a row of its own, including retries and requests hidden from the
// caller. The flow is:
//
//	Reserve ──▶ ask ──▶ Finish ──▶ the turn appends the answer and settles, in one transaction
//	   │         ├────▶ refused, or not reached ──▶ released
//	   │         └────▶ broken or stopped ──▶ lost, at its maximum possible cost
//	   └── a limit has not enough left ──▶ fewer tokens of output, or an error
//
// A cut-off answer is charged for the received bytes, shown or not, at one
// token per byte; if the model may reason invisibly or answers in one piece,
// the whole reservation is charged. The ledger itself settles calls without a
// turn. Without an applicable limit nothing is reserved: the row is written
// with the answer, and the ledger only computes its cost, or estimates that of
// a cut-off answer.
//
// # Budgets
//
// A budget is a limit with its period: the day of the home, an hour of calls, a
// session, a turn. Its row holds the spent and the reserved amount, and changes
// in the transactions that change the ledger. A call is reserved only if every
// budget it claims from has enough left, checked under the locks of their rows:
//
//	update budgets set reserved = reserved + $cost where …   limit by limit, in one order
//	update budgets … where … and spent + reserved <= $most   otherwise roll back
//
// The result does not depend on the number of goroutines, processes or nodes
// that spend concurrently. A change of the ledger updates every budget row that
// the call falls under, including rows only claimed from by processes with
// other limits or another time zone. A budget row is a cached sum over the
// ledger: a process recomputes it on first use and after a refusal, and it may
// be deleted at any time. Calls refused before they began do not count as
// actions.
//
// A call may reserve everything that is left although most calls cost less than
// their maximum. Other calls therefore wait for up to a minute while only calls
// in flight block them.
//
// # Invariants
//
//   - An amount enters the ledger in one of three ways: Settle of a reservation
//     with an answer, at the price of the answer; Settle of a reservation with an
//     unknown answer, at most at the reserved amount; Charge of a call without an
//     applicable limit. No other code adds a row. A call in flight when its
//     process died therefore costs at most its reservation, and a turn that has a
//     limit and no reservation costs nothing.
//   - The spent plus the reserved amount of a budget therefore never exceeds its
//     limit, however often processes are killed, with two exceptions that the
//     ledger cannot prevent and does not hide: an answer that costs more than its
//     reservation, because the prompt was underestimated or the provider exceeded
//     the output limit, is charged in full, and the next call is refused; calls
//     of processes configured without the limit are charged to it as well.
//   - A turn has at most one open reservation. A second request for a turn marks
//     the reservation of the earlier run as lost.
//   - Rows in a final state do not change.
//
// # Failure
//
// Reservations of a dead process are lost at their maximum possible cost.
// [Ledger.Tend] finds them: at startup, periodically, and before a call is
// refused. A run that follows the death of a process which may have asked a
// model sets Request.Again: the reservation of the turn is then marked as lost.
// Without a reservation an estimate is charged if no limit applies; if a limit
// applies, the process died before it reserved, and so before it asked.
package cost

// Package cost keeps the ledger of model calls, and the limits of what they may
// cost. A call that a limit applies to is reserved before it is made, at the most
// that it can cost, and settled when its answer is in the journal:
//
//	            ┌─▶ settled    its answer was appended; the cost is known
//	reserved ───┼─▶ released   it was refused, or never made
//	            └─▶ lost       its answer broke off, or is not known
//
// A [Ledger] wraps providers, right around who makes requests: each request is a
// row of its own, also one that is made again and one that nobody saw. Around it,
// this happens:
//
//	Reserve ──▶ ask ──▶ Finish ──▶ the turn appends the answer and settles, in one transaction
//	   │         ├────▶ refused, or not reached ──▶ released
//	   │         └────▶ broken or stopped ──▶ lost, at the most that it can have cost
//	   └── a limit has not enough left ──▶ fewer tokens of output, or an error
//
// What broke off costs what arrived, shown or not, with a byte for a token; all that
// was reserved, where the model may reason in secret or answers in one piece.
// Callers without a turn are settled by the ledger itself. Where no limit applies
// nothing is reserved: the row is written with the answer, and the ledger only says
// what it costs, or guesses what a broken one did.
//
// # Budgets
//
// A budget is a limit with its period: the day of the home, an hour of calls, a
// session, a turn. Its row holds what was spent of it and what is reserved, and
// is changed in the transactions that change the ledger. A call is reserved if all
// budgets that it is claimed from are, under their locks, found to have enough left:
//
//	update budgets set reserved = reserved + $cost where …   limit by limit, in one order
//	update budgets … where … and spent + reserved <= $most   else nothing of it happened
//
// So it makes no difference how many goroutines, processes or nodes spend at
// once. Whoever changes the ledger changes every row that the call falls under,
// also those that only others claim from: those with other limits, or in another
// zone. The row is only a sum of the ledger: it is counted out of it when a
// process needs it first, and after a refusal, and may be forgotten at any time.
// Calls that were refused before they began are no actions.
//
// A call that takes all that is left is not the end for others: most cost less than
// they may. Others wait for up to a minute while only calls under way stand in their
// way.
//
// # Invariants
//
//   - What is spent and reserved of a budget never exceeds the limit of those who
//     keep it, as long as no answer costs more than was reserved for it. A prompt
//     that was counted too small can; it is charged whole, and the next call is
//     refused. Calls of processes without the limit are charged to it as well.
//   - One reservation is open for each turn. Whoever asks again for a turn gives
//     up what an earlier run reserved for it: it is lost.
//   - Rows that have ended do not change.
//
// # Failure
//
// What a process reserved that is dead is lost at the most that it can have cost.
// [Ledger.Tend] finds it: at the start, now and then, and before a call is
// refused. A run that follows the death of a process which had asked a model says
// so in its request: what that had reserved is lost then, and if it had reserved
// nothing, a guess is added.
package cost

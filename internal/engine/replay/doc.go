// Package replay runs a turn again from its record in the journal.
//
//	record ──▶ book (in memory) ──▶ turn.Runner ──▶ entries, calls, ending
//	   │                               ▲   │                  │
//	   └── player: answers, results, ──┘   └── compared with ◀┘
//	       outside events                      the record
//
// The machine is the production one; everything around it is played back: model
// answers, tool results and policy decisions come from the record, and nothing
// happens outside of memory. A different result therefore means that the record
// is incomplete, or that the machine has changed since.
//
// # Outside events
//
// A record has no list of events outside the turn, but they can be derived from
// its entries. Before each action of the machine, the player inspects the
// remaining record:
//
//	the next entries                             the event
//	a user's entry, or calls skipped for one     messages enter the turn
//	only results of calls that never ran         the turn is stopped, times out,
//	                                             or is given up
//	an answer that was cut off                   the same, after its text
//	an interrupted call                          the same, during the call
//	a call with an unknown outcome               the process dies during the call
//	an answered approval                         that answer
//	client-side results                          they arrive, message by message
//
// Answers to requests that a call made precede its result in the record; the call
// gets them again.
//
// A crash without an unknown call left no trace except the crash counter, and
// is not repeated: the record is the same as without it.
//
// # Comparison
//
// Compared are entries by kind and body, calls, approvals, the ledger and the
// ending. Ids are newly generated and compared by the position they refer to;
// times, token estimates and the crash counter are ignored. The prompt of every
// step must also equal the prompt derived from the record before its answer.
// The limits of the turn are the configured ones, unless the record shows the
// limit that ended it.
package replay

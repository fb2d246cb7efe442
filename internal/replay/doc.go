// Package replay runs a turn again out of what the journal holds of it.
//
//	record ──▶ book (in memory) ──▶ turn.Runner ──▶ entries, calls, ending
//	   │                               ▲   │                  │
//	   └── player: answers, results, ──┘   └── compared with ◀┘
//	       what came from outside              the record
//
// The machine is the one that runs every turn. Everything around it is played:
// the model answers what it answered, a tool returns what it returned, the
// policy rules as it ruled, and nothing happens outside of memory. So a turn
// that comes out differently shows that the record does not say everything that
// mattered, or that the machine has changed since.
//
// # What came from outside
//
// A record holds no list of what happened beside the turn, but its entries show
// it, in order. The player looks at the part of the record that is still to come
// whenever the machine is about to act:
//
//	the record goes on with                      so now
//	a user's entry, or calls skipped for one     messages enter the turn
//	only results of calls that never ran         the turn is stopped, its time is
//	                                             up, or it is given up
//	an answer that was cut off                   the same, once its text has arrived
//	a call that was interrupted                  the same, while the call runs
//	a call whose outcome is unknown              the process dies while it runs
//	a question with its answer                   it is answered in that way
//	results that the sender brought              they are brought, message by message
//
// A process that died without leaving an unknown call has left no trace beside
// the number of crashes, and does not die again: the record is what it would
// have been without.
//
// # What is compared
//
// Entries by kind and body, calls, questions, the ledger and the ending. Ids are
// made anew and stand for what they name; times, estimates of tokens and the
// number of crashes differ by nature. The prompt of every step must also be what
// the record before its answer comes to. The limits of the turn are those of the
// configuration, unless the record tells which it met.
package replay

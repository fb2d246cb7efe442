// Package fail marks the places where a process may die or a step may break,
// so that tests can make it happen there. In an ordinary build every function
// is an empty one that the compiler removes; a build with the tag "failpoint"
// reads what should happen from the environment.
//
//	CHELA_FAILPOINTS      name[@nth]=action, separated by ";". Actions: kill
//	                      (SIGKILL to this process), error (of no kind), busy
//	                      (Unavailable), full (Exhausted), sleep(5ms). Without
//	                      @nth the action happens at every hit.
//	CHELA_FAILPOINTS_LOG  a file to which every hit is appended, one name a line
//	CHELA_FAILPOINTS_MUTANTS  names of planted defects, separated by ","
//
// Every transaction of the store has three points, named after the
// transaction: NAME.begin, NAME.commit (done but not committed) and NAME.done
// (committed, nobody told yet). The point store.statement is passed before every
// statement of every transaction.
package fail

// Package fail marks failpoints: places in the code where tests can make the
// process die or a step fail. In an ordinary build every function is empty and
// the compiler removes it; a build with the tag "failpoint" reads the actions
// from the environment.
//
//	CHELA_FAILPOINTS      name[@nth]=action, separated by ";". Actions: kill
//	                      (SIGKILL to this process), error (of no kind), busy and
//	                      full (Unavailable), sleep(5ms). Without
//	                      @nth the action happens at every hit.
//	CHELA_FAILPOINTS_LOG  a file to which every hit is appended, one name a line
//	CHELA_FAILPOINTS_MUTANTS  names of planted defects, separated by ",", such as
//	                      "label summary" (see safety.Label)
//
// Every transaction of the store has three points, named after the transaction:
// NAME.begin, NAME.commit (done but not committed) and NAME.done (committed,
// not yet announced). The point store.statement is passed before every
// statement of every transaction.
package fail

import "errors"

// ErrFull is in the chain of the error of the action full, which simulates a
// full disk.
var ErrFull = errors.New("no space is left")

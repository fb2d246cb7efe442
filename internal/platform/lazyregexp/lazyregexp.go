// Package lazyregexp compiles regular expressions on their first use: a command that
// needs none of the program's hundred does not pay for them.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// inTest reports whether the process is a test: tests compile at once, so that a
// faulty expression fails each test of its package.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// New returns a function that compiles an expression when it is first called, and
// returns the result from then on. It panics if the expression is faulty.
func New(expression string) func() *regexp.Regexp {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
	if inTest {
		compiled()
	}
	return compiled
}

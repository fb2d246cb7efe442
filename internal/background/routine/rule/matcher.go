package rule

// This part of the package finds the routines whose expressions match a
// message.
//
// Expressions use the syntax of Go's regexp, so a match takes time linear in the
// text, and each expression is run on each message.

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"chela"
	"chela/internal/platform/excerpt"
)

// Limits of expressions and of matched texts.
const (
	MaxPatternBytes = 1_000
	MaxSteps        = 1_100   // instructions of a compiled expression; a byte of text may run them all
	MaxTextBytes    = 100_000 // the rest of a longer text is ignored
)

// A Pattern fires a routine for a matching message.
type Pattern struct {
	Routine chela.RoutineID
	Channel string // restricts it to one channel; empty for all
	Pattern string // an expression (RE2); it may match anywhere in the text
}

// CheckPattern returns Invalid if a pattern is empty, too long, too complex or not a
// valid expression.
func CheckPattern(pattern string) error {
	_, err := compilePattern(pattern)
	return err
}

// A Patterns matches messages against all its triggers at once. It is immutable and
// safe for concurrent use; the zero Patterns matches nothing.
type Patterns struct{ triggers []compiledPattern }

type compiledPattern struct {
	Pattern
	expression *regexp.Regexp
}

// NewPatterns returns the set of triggers. Triggers whose pattern fails Check are left
// out; their errors are returned joined, beside the set of the others.
func NewPatterns(triggers []Pattern) (*Patterns, error) {
	s := &Patterns{}
	var errs []error
	for _, t := range triggers {
		expression, err := compilePattern(t.Pattern)
		if err != nil {
			errs = append(errs, fmt.Errorf("compile trigger of %s: %w", t.Routine, err))
			continue
		}
		s.triggers = append(s.triggers, compiledPattern{t, expression})
	}
	return s, errors.Join(errs...)
}

// Match returns the routines that a message fires, in the order of the
// triggers. A routine with two matching triggers is returned twice.
func (s *Patterns) Match(channel, text string) []chela.RoutineID {
	text = excerpt.Bytes(text, MaxTextBytes)
	var found []chela.RoutineID
	for _, t := range s.triggers {
		if (t.Channel == "" || t.Channel == channel) && t.expression.MatchString(text) {
			found = append(found, t.Routine)
		}
	}
	return found
}

// compilePattern returns an expression.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	switch {
	case pattern == "":
		return nil, invalid("the pattern is empty").WithHint("use . for every message")
	case len(pattern) > MaxPatternBytes:
		return nil, invalid("the pattern has %d bytes, and %d are allowed", len(pattern), MaxPatternBytes).
			WithHint("use a shorter one, or several routines")
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, invalid("the pattern is not a valid regular expression: %s", patternFault(err)).
			WithHint("see https://github.com/google/re2/wiki/Syntax")
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fmt.Errorf("compile pattern: %w", err)
	}
	if len(program.Inst) > MaxSteps {
		return nil, invalid("the pattern compiles to %d instructions, and %d are allowed", len(program.Inst), MaxSteps).
			WithHint("use smaller repeat counts; * and + are cheap")
	}
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("compile pattern: %w", err)
	}
	return expression, nil
}

// patternFault returns the fault in a pattern, without the prefix of package regexp.
func patternFault(err error) string {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return err.Error()
	}
	if e.Expr == "" {
		return e.Code.String()
	}
	return fmt.Sprintf("%s in %q", e.Code, e.Expr)
}

// Package matcher finds the routines whose expressions a message matches.
//
// Expressions are those of Go's regexp, so that a match takes time linear in
// the text, whatever the expression is. Most messages match none of many: an
// expression is only tried on a text that holds one of the words that every
// match of it must hold (words.go), and one pass over the text finds these
// words for all expressions together (index.go).
package matcher

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"chela"
	"chela/internal/excerpt"
)

// Limits of expressions and of what they are matched with.
const (
	MaxPatternBytes = 1_000
	MaxSteps        = 1_100   // of a compiled expression, which a byte of text may cost; a letter takes one
	MaxTextBytes    = 100_000 // the rest of a longer text is not looked at
)

// A Trigger fires a routine when a message matches.
type Trigger struct {
	Routine chela.RoutineID
	Channel string // only messages of this channel; empty for all
	Pattern string // an expression (RE2); it may match anywhere in the text
}

// Check returns an Invalid error if no trigger can have the pattern: it is
// empty, too long, takes too many steps, or is no expression.
func Check(pattern string) error {
	_, _, err := compile(pattern)
	return err
}

// A Set matches messages with all its triggers at once. It never changes, and
// may be used concurrently; the zero Set matches nothing.
type Set struct {
	triggers []compiled
	always   []int // triggers that no word tells about, in order
	index    index // of the words of the others
}

type compiled struct {
	routine chela.RoutineID
	channel string
	pattern *regexp.Regexp
}

// New returns the set of triggers. A trigger whose pattern fails its Check is
// left out; the errors of all of them are returned joined, beside a set of the
// others.
func New(triggers []Trigger) (*Set, error) {
	s := &Set{index: newIndex()}
	var errs []error
	for _, t := range triggers {
		pattern, words, err := compile(t.Pattern)
		if err != nil {
			errs = append(errs, fmt.Errorf("compile trigger of %s: %w", t.Routine, err))
			continue
		}
		n := len(s.triggers)
		s.triggers = append(s.triggers, compiled{t.Routine, t.Channel, pattern})
		if len(words) == 0 {
			s.always = append(s.always, n)
		}
		for _, word := range words {
			s.index.add(word, n)
		}
	}
	return s, errors.Join(errs...)
}

// Match returns the routines that a message fires, in the order of the
// triggers. A routine with two triggers that match is returned twice.
func (s *Set) Match(channel, text string) []chela.RoutineID {
	text = excerpt.Bytes(text, MaxTextBytes)
	wanted := make([]bool, len(s.triggers))
	for _, n := range s.always {
		wanted[n] = true
	}
	s.index.find(fold(text), wanted)

	var found []chela.RoutineID
	for n, t := range s.triggers {
		if wanted[n] && (t.channel == "" || t.channel == channel) && t.pattern.MatchString(text) {
			found = append(found, t.routine)
		}
	}
	return found
}

// compile returns an expression and words of which every match holds one; no
// words where there are none such.
func compile(pattern string) (*regexp.Regexp, []string, error) {
	switch {
	case pattern == "":
		return nil, nil, chela.E(chela.Invalid, "the pattern is empty").WithHint("use . for every message")
	case len(pattern) > MaxPatternBytes:
		return nil, nil, chela.E(chela.Invalid, fmt.Sprintf("the pattern has %d bytes, and %d are allowed", len(pattern), MaxPatternBytes)).
			WithHint("use a shorter one, or several routines")
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, nil, chela.E(chela.Invalid, fmt.Sprintf("the pattern is no expression: %s", reason(err))).
			WithHint("see https://github.com/google/re2/wiki/Syntax")
	}
	words := wordsOf(parsed)
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, nil, fmt.Errorf("compile pattern: %w", err)
	}
	if len(program.Inst) > MaxSteps {
		return nil, nil, chela.E(chela.Invalid, fmt.Sprintf("the pattern takes %d steps, and %d are allowed", len(program.Inst), MaxSteps)).
			WithHint("let it repeat fewer times: * and + take few steps")
	}
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return nil, nil, fmt.Errorf("compile pattern: %w", err)
	}
	return expression, words, nil
}

// reason returns what is wrong with a pattern, without the words of a package.
func reason(err error) string {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if e.Expr == "" {
		return e.Code.String()
	}
	return fmt.Sprintf("%s in %q", e.Code, e.Expr)
}

package leak

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
)

// A rule describes one format of credentials. Its text form is a line of JSON.
type rule struct {
	ID       string   `json:"id"`
	Keywords []string `json:"keywords"` // lower case; one of them is in every secret of the format, or close before it
	Expr     string   `json:"expr"`
	Entropy  float64  `json:"entropy,omitempty"` // the least entropy of a secret, in bits for each byte
	Allow    []string `json:"allow,omitempty"`   // expressions of secrets that are examples

	compiled func() expressions
}

type expressions struct {
	match *regexp.Regexp
	allow []*regexp.Regexp
}

// Published formats, one rule a line. rules.jsonl is made from the rules of
// betterleaks by TestRulesAreTheLibrarys, own.jsonl is kept by hand.
var (
	//go:embed rules.jsonl
	libraryRules string
	//go:embed own.jsonl
	ownRules string
)

// rules parses the embedded rules, which tests check.
var rules = sync.OnceValue(func() (all []*rule) {
	for line := range strings.Lines(libraryRules + ownRules) {
		r := new(rule)
		if err := json.Unmarshal([]byte(line), r); err != nil {
			panic(fmt.Sprintf("embedded rule %.60s: %v", line, err))
		}
		r.compiled = sync.OnceValue(r.compile)
		all = append(all, r)
	}
	return all
})

func (r *rule) compile() expressions {
	e := expressions{match: regexp.MustCompile(r.Expr)}
	for _, a := range r.Allow {
		e.allow = append(e.allow, regexp.MustCompile(a))
	}
	return e
}

// find calls found with the ranges of all secrets of the rule in text. A secret
// is the first group that matched, or all of the match.
func (r *rule) find(text string, found func(start, end int)) {
	e := r.compiled()
	for _, m := range e.match.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				start, end = m[i], m[i+1]
				break
			}
		}
		if r.counts(e, text[start:end]) {
			found(start, end)
		}
	}
}

func (r *rule) counts(e expressions, secret string) bool {
	if r.Entropy > 0 && entropy(secret) < r.Entropy {
		return false
	}
	for _, a := range e.allow {
		if a.MatchString(secret) {
			return false
		}
	}
	return true
}

// entropy returns the Shannon entropy of the bytes of text, in bits for each byte.
func entropy(text string) (bits float64) {
	var count [256]int
	for i := range len(text) {
		count[text[i]]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

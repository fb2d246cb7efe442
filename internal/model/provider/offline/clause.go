package offline

import (
	"strings"
)

// A clause is the part of a message with one request.
type clause struct {
	means meaning
	after bool // to be done after the preceding clause
}

// Limits of the parser. A longer message, or one with more possible cuts, is
// understood only as a single request.
const (
	maxCut  = 4000 // bytes
	maxCuts = 12
)

// A cut is a possible boundary between two clauses.
type cut struct {
	end, begin int // end of the clause before, and beginning of the one after
	after      bool
	and        bool // a bare "and", which joins words as well as clauses
}

var joints = lazy(`(?i)` +
	`(?P<after>[,;]?\s+(?:and\s+)?(?:then|after that|afterwards|next|finally),?\s+)` +
	`|(?P<sentence>[.!?]\s+|\n\s*|;\s*)(?:(?P<later>(?:and\s+)?(?:then|after that|afterwards|next|finally),?\s+)|and\s+|also,?\s+)?` +
	`|(?P<and>,?\s+and\s+(?:also\s+)?)|,\s+(?:also\s+)?|,?\s+as well as\s+`)

// cutsOf returns the possible cuts of a text: conjunctions, commas and sentence
// ends outside of quotes, code and JSON.
func cutsOf(text string) []cut {
	re := joints()
	group := func(m []int, name string) bool { return m[2*re.SubexpIndex(name)] >= 0 }
	quoted := quotedBytes(text)
	var cuts []cut
	for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
		if m[0] == 0 || m[1] == len(text) || quoted[m[0]] {
			continue
		}
		c := cut{end: m[0], begin: m[1], after: group(m, "after") || group(m, "later"), and: group(m, "and")}
		if group(m, "sentence") && strings.ContainsRune(".!?", rune(text[m[0]])) {
			c.end++
		}
		cuts = append(cuts, c)
	}
	return cuts
}

// quotedBytes marks the bytes of text that are inside quotes, code or braces.
func quotedBytes(text string) []bool {
	quoted := make([]bool, len(text))
	for i := 0; i < len(text); {
		n := quotedLength(text[i:], i == 0 || strings.IndexByte(" \n\t(:", text[i-1]) >= 0)
		for k := i; k < i+n; k++ {
			quoted[k] = true
		}
		i += max(n, 1)
	}
	return quoted
}

// quotedLength returns the length of the quotation at the beginning of text, or
// 0. An apostrophe opens a quotation only at the beginning of a word.
func quotedLength(text string, wordBegins bool) int {
	switch {
	case strings.HasPrefix(text, "```"):
		return closedBy(text, "```")
	case text[0] == '"', text[0] == '`', text[0] == '\'' && wordBegins:
		return closedBy(text, text[:1])
	case strings.HasPrefix(text, "“"):
		return closedBy(text, "”")
	case text[0] == '{':
		return balanced(text, '{', '}')
	case text[0] == '[':
		return balanced(text, '[', ']')
	default:
		return 0
	}
}

func closedBy(text, mark string) int {
	i := strings.Index(text[1:], mark)
	if i < 0 {
		return 0
	}
	return 1 + i + len(mark)
}

func balanced(text string, open, shut byte) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case shut:
			depth--
		}
		if depth == 0 {
			return i + 1
		}
	}
	return 0
}

// clausesOf splits a message into clauses. It cuts only if every part has a
// meaning, so "write salt and pepper to a.txt" stays whole.
func clausesOf(text string) ([]clause, bool) {
	text = strings.TrimSpace(text)
	var cuts []cut
	if len(text) <= maxCut {
		cuts = cutsOf(text)
	}
	if len(cuts) > maxCuts {
		cuts = nil
	}
	return splitter{text: text, cuts: cuts, dead: make([]bool, len(cuts)+1)}.from(-1)
}

// A splitter searches for the finest split of a text into clauses.
type splitter struct {
	text string
	cuts []cut
	dead []bool // dead[i+1]: the text after cut i cannot be split
}

// from returns the clauses after cut i; -1 is the beginning of the text.
func (s splitter) from(i int) ([]clause, bool) {
	if s.dead[i+1] {
		return nil, false
	}
	for k := i + 1; k <= len(s.cuts); k++ {
		c, ok := s.between(i, k)
		if !ok {
			continue
		}
		if k == len(s.cuts) {
			return []clause{c}, true
		}
		if rest, ok := s.from(k); ok {
			return append([]clause{c}, rest...), true
		}
	}
	s.dead[i+1] = true
	return nil, false
}

// between returns the clause from cut i to cut k.
func (s splitter) between(i, k int) (clause, bool) {
	before, behind := cut{}, cut{end: len(s.text)}
	if i >= 0 {
		before = s.cuts[i]
	}
	if k < len(s.cuts) {
		behind = s.cuts[k]
	}
	if behind.end <= before.begin {
		return clause{}, false
	}
	means, ok := interpret(s.text[before.begin:behind.end])
	if !ok || means.talk && (before.and || behind.and) {
		return clause{}, false
	}
	return clause{means, before.after}, true
}

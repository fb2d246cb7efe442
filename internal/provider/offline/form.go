package offline

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A form is a way to ask for something. Forms are tried in order; one whose
// read says no leaves the clause to the next.
type form struct {
	re       *regexp.Regexp
	verbatim bool // matched against the clause as it was written, not stripped of courtesies
	mean     func(groups) (meaning, bool)
}

// groups are the named groups of a match, trimmed.
type groups map[string]string

// Parts of the expressions of forms.
const (
	pathRE = "(?:the )?(?:file |page )?(?P<path>\"[^\"]+\"|'[^']+'|`[^`]+`|[^\\s\"'`]+)"
	dirRE  = "(?:the )?(?:(?:directory|folder|dir|path) )?(?P<dir>\"[^\"]+\"|'[^']+'|`[^`]+`|[^\\s\"'`]+)(?: (?:directory|folder|dir))?"
	itRE   = `it|that|this|them|these|the (?:result|results|output|answer|content|contents|text|response)|(?:its|their) (?:content|contents|text)|what (?:you|it) (?:got|returned|says|said)`
)

func newForm(expression string, mean func(groups) (meaning, bool)) form {
	return form{re: regexp.MustCompile(`(?is)^(?:` + expression + `)$`), mean: mean}
}

func newVerbatim(expression string, mean func(groups) (meaning, bool)) form {
	f := newForm(expression, mean)
	f.verbatim = true
	return f
}

// forms compiles all forms once, when the first message is read: a process
// that never asks this provider should not pay for them.
var forms = sync.OnceValue(func() []form {
	var all []form
	for _, some := range [][]form{
		talkForms(), echoForms(), jsonForms(), httpForms(), writeForms(), shellForms(),
		timeForms(), searchForms(), readForms(), listForms(), calcForms(),
	} {
		all = append(all, some...)
	}
	return all
})

var courtesies = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:\d+[.)]\s+|[-*]\s+|(?:please|kindly|hey|hi|hello|ok|okay|so|well|now|first|first of all|just|chela|thanks)[,!.]?\s+` +
		`|(?:can|could|would|will) you(?: please)?\s+|(?:do|can) you (?:know|tell me)\s+|i(?:'d| would) like (?:you to|to know)\s+` +
		`|i (?:want|need)(?: you)? to(?: know)?\s+|let's\s+|go ahead and\s+|tell me,?\s+|give me\s+|and\s+|also,?\s+)`)
})

var closings = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:[?!]+|,?\s+(?:please|thanks|thank you|for me|too|as well)|(?P<word>[\pL\pN)"'` + "`" + `\]}/*])\.+)$`)
})

// strip takes courtesies and the closing punctuation off a clause.
func strip(text string) string {
	for {
		n := len(text)
		text = strings.TrimSpace(courtesies().ReplaceAllString(text, ""))
		text = strings.TrimSpace(closings().ReplaceAllString(text, "$word"))
		if len(text) == n {
			return text
		}
	}
}

// interpret returns what a clause means, and whether it means anything.
func interpret(text string) (meaning, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return meaning{}, false
	}
	ended := closings().ReplaceAllString(text, "$word")
	written := []string{text, courtesies().ReplaceAllString(text, "")}
	stripped := []string{strip(text), ended}
	for _, f := range forms() {
		candidates := stripped
		if f.verbatim {
			candidates = written
		}
		for _, c := range slices.Compact(slices.Clone(candidates)) {
			if m, ok := f.match(c); ok {
				return m, true
			}
		}
	}
	return meaning{}, false
}

func (f form) match(text string) (meaning, bool) {
	m := f.re.FindStringSubmatch(text)
	if m == nil {
		return meaning{}, false
	}
	g := groups{}
	for i, name := range f.re.SubexpNames() {
		if name != "" && m[i] != "" {
			g[name] = strings.TrimSpace(m[i])
		}
	}
	return f.mean(g)
}

// unquote takes one pair of quotes, or a code fence, off s.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range [][2]string{{"```", "```"}, {`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}} {
		if len(s) < len(q[0])+len(q[1]) || !strings.HasPrefix(s, q[0]) || !strings.HasSuffix(s, q[1]) {
			continue
		}
		inside := s[len(q[0]) : len(s)-len(q[1])]
		if q[0] != "```" {
			return inside
		}
		// The rest of a fence's first line names a language.
		_, code, found := strings.Cut(inside, "\n")
		if !found {
			return strings.TrimSpace(inside)
		}
		return code
	}
	return s
}

func isQuoted(s string) bool { return unquote(s) != strings.TrimSpace(s) }

package offline

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A form is one way to phrase a request. Forms are tried in order; a form whose
// mean returns false passes the clause on to the next.
type form struct {
	re       *regexp.Regexp
	verbatim bool // matched against the clause as written, with courtesies
	mean     func(groups) (meaning, bool)
}

// groups holds the named groups of a match, trimmed.
type groups map[string]string

// Building blocks of the expressions.
const (
	quotedRE = "\"[^\"]+\"|'[^']+'|`[^`]+`"
	nameRE   = quotedRE + "|[^\\s\"'`]+" // a name in quotes, or without spaces
	dirRE    = `(?:the )?(?:(?:directory|folder|dir|path) )?(?P<dir>` + nameRE + `)(?: (?:directory|folder|dir))?`
	itRE     = `it|that|this|them|these|the (?:result|results|output|answer|content|contents|text|response)|(?:its|their) (?:content|contents|text)|what (?:you|it) (?:got|returned|says|said)`
)

func newForm(expression string, mean func(groups) (meaning, bool)) form {
	return form{re: regexp.MustCompile(`(?is)^(?:` + expression + `)$`), mean: mean}
}

func newVerbatim(expression string, mean func(groups) (meaning, bool)) form {
	f := newForm(expression, mean)
	f.verbatim = true
	return f
}

// lazy compiles a regexp on first use, so that processes that never use this
// provider do not pay for its rules.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// A family holds the forms of one subject. They are compiled and tried only for
// clauses that contain any of its words.
type family struct {
	words []string // lower case; none: every clause
	forms func() []form
}

// families lists all forms; the first form with a meaning for a clause wins.
var families = []family{
	{nil, sync.OnceValue(talkForms)},
	{[]string{"echo", "say", "repeat"}, sync.OnceValue(echoForms)},
	{[]string{"json", "{", "[", "parse", "query", "valid", "stringify", "minify", "compact", "pretty"}, sync.OnceValue(jsonForms)},
	{[]string{"://", "www.", ".com", ".org", ".net", ".io", ".dev", ".edu", ".gov", ".de", ".uk"}, sync.OnceValue(httpForms)},
	{[]string{"create", "make", "touch", "write", "save", "put", "store", "dump", "copy", "replace", "change", "substitute"}, sync.OnceValue(writeForms)},
	{[]string{"run", "exec", "$", "`"}, sync.OnceValue(shellForms)},
	{[]string{"time", "date", "day", "convert", "format", "how ", "noon", "midnight", "am ", "pm ", "o'clock", ":"}, sync.OnceValue(timeForms)},
	{[]string{"find", "locate", "look", "search", "glob", "grep", "where", "file", "*"}, sync.OnceValue(searchForms)},
	{[]string{"read", "open", "cat", "show", "display", "print", "view", "see", "get", "look", " in ", "say", "contain"}, sync.OnceValue(readForms)},
	{[]string{"list", "show", "ls", "see", "get", "file", "director", "folder", "dir", "inside", " in "}, sync.OnceValue(listForms)},
	{strings.Split("0123456789", ""), sync.OnceValue(calcForms)},
}

// concerns reports whether a clause, in lower case, contains a word of the
// family.
func (f family) concerns(clause string) bool {
	return len(f.words) == 0 || slices.ContainsFunc(f.words, func(w string) bool { return strings.Contains(clause, w) })
}

var courtesies = lazy(`(?i)^(?:\d+[.)]\s+|[-*]\s+|(?:please|kindly|hey|hi|hello|ok|okay|so|well|now|first|first of all|just|chela|thanks)[,!.]?\s+` +
	`|(?:can|could|would|will) you(?: please)?\s+|(?:do|can) you (?:know|tell me)\s+|i(?:'d| would) like (?:you to|to know)\s+` +
	`|i (?:want|need)(?: you)? to(?: know)?\s+|let's\s+|go ahead and\s+|tell me,?\s+|give me\s+|and\s+|also,?\s+)`)

var closings = lazy(`(?i)(?:[?!]+|,?\s+(?:please|thanks|thank you|for me|too|as well)|(?P<word>[\pL\pN)"'` + "`" + `\]}/*])\.+)$`)

// strip removes courtesies and the closing punctuation from a clause.
func strip(text string) string {
	for {
		n := len(text)
		text = stripLead(text)
		text = strings.TrimSpace(closings().ReplaceAllString(text, "$word"))
		if len(text) == n {
			return text
		}
	}
}

// stripLead removes courtesies from the beginning of a clause.
func stripLead(text string) string {
	for {
		n := len(text)
		text = strings.TrimSpace(courtesies().ReplaceAllString(text, ""))
		if len(text) == n {
			return text
		}
	}
}

// interpret returns the meaning of a clause, and whether it has one.
func interpret(text string) (meaning, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return meaning{}, false
	}
	stripped := []string{strip(text), closings().ReplaceAllString(text, "$word")}
	written := []string{text, stripLead(text)}
	lower := strings.ToLower(text)
	for _, fam := range families {
		if !fam.concerns(lower) {
			continue
		}
		for _, f := range fam.forms() {
			candidates := stripped
			if f.verbatim {
				candidates = written
			}
			if m, ok := f.matchAny(candidates); ok {
				return m, true
			}
		}
	}
	return meaning{}, false
}

func (f form) matchAny(texts []string) (meaning, bool) {
	for i, text := range texts {
		if i > 0 && text == texts[i-1] {
			continue
		}
		if m, ok := f.match(text); ok {
			return m, true
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

// unquote removes one pair of quotes, or a code fence, from s.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range [][2]string{{"```", "```"}, {`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}} {
		if len(s) < len(q[0])+len(q[1]) || !strings.HasPrefix(s, q[0]) || !strings.HasSuffix(s, q[1]) {
			continue
		}
		inside := s[len(q[0]) : len(s)-len(q[1])]
		if q[0] != "```" && strings.Contains(inside, q[0]) {
			return s // two quotations, not one
		}
		if q[0] != "```" {
			return inside
		}
		// The rest of a fence's first line is the language.
		_, code, found := strings.Cut(inside, "\n")
		if !found {
			return strings.TrimSpace(inside)
		}
		return code
	}
	return s
}

func isQuoted(s string) bool { return unquote(s) != strings.TrimSpace(s) }

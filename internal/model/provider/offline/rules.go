package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"chela/internal/platform/lazyregexp"
)

// An action is the meaning of a clause: a call, or an answer in words.
type action struct {
	tool  string
	args  map[string]string
	words string
}

// A rule is one kind of request. Its function gets the groups of the match, and
// returns nil for a clause that only looks like one.
type rule struct {
	re *regexp.Regexp
	do func(g []string) *action
}

const (
	quoted = "`([^`]+)`" // a command, in backticks
	name   = "[\"'`]?([^\\s\"'`]+)[\"'`]?"
	number = `[-+(]*\d[\d.,]*[)!%]*`
)

// rules are tried in order.
var rules = sync.OnceValue(func() (all []rule) {
	add := func(expression string, do func(g []string) *action) {
		all = append(all, rule{regexp.MustCompile(`(?is)^(?:` + expression + `)$`), do})
	}
	say := func(expression, words string) {
		add(expression, func([]string) *action { return &action{words: words} })
	}
	command := func(g []string) *action { return call("shell", "command", g[1]) }
	add(`(?:what(?:'s| is)? )?(?:the )?(?:current )?(?:time|date|day)(?: is it| it is)?(?: today| now)?(?: in ([^,]+))?`, clock)
	add(`(?:compute|calculate):? (.*\d.*)`, sum)
	add(`(?:what(?:'s| is) |how much is )?(`+number+`(?: ?(?:[-+*/^%×÷]| x ) ?`+number+`)+)`, sum)
	add(`run (?:the command:? )?`+quoted, command)
	add(`run the command:? (.+)`, command)
	add(`(?:list|show|ls)(?: me)?(?: all)?(?: the| my)?(?: (?:files|folder|directory))?(?: (?:in|of) `+name+`)?`, func(g []string) *action {
		return call("list_dir", "path", cmp.Or(g[1], "."))
	})
	add(`(?:write|save|put) (.+) (?:in)?to (?:the )?(?:file )?`+name, write)
	add(`(?:read|show|open|cat|print)(?: me)?(?: the)?(?: file)? `+name, func(g []string) *action { return file("read_file", g[1]) })
	say(`(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| chela)?`, "Hello! I am chela's offline stand-in; tell me what to do in a few plain words.")
	say(`(?:thanks|thank you)(?: very much)?`, "You are welcome.")
	say(`help|(?:who|what) are you|what can you do`, introduction)
	return all
})

func call(tool, argument, value string) *action {
	return &action{tool: tool, args: map[string]string{argument: value}}
}

func sum(g []string) *action {
	if date().MatchString(g[1]) {
		return nil
	}
	expression := strings.NewReplacer("×", "*", "÷", "/", " x ", " * ").Replace(g[1])
	return call("calc", "expression", strings.TrimSpace(expression))
}

// file is a call on a file, whose name must look like one.
func file(tool, path string) *action {
	if strings.ContainsAny(path, "./") && !strings.Contains(path, "://") || strings.ToUpper(path) == path {
		return call(tool, "path", path)
	}
	return nil
}

func write(g []string) *action {
	a := file("write_file", g[2])
	if a == nil || slices.Contains([]string{"it", "that", "this"}, g[1]) {
		return nil
	}
	a.args["content"] = strings.Trim(g[1], "\"'`")
	return a
}

// clock asks for the time, in a place if there is one.
func clock(g []string) *action {
	a := call("time", "operation", "now")
	if g[1] == "" {
		return a
	}
	zone, ok := zoneOf(g[1])
	if !ok {
		return &action{words: "I do not know in which time zone " + g[1] + " is; name a zone such as Europe/Berlin."}
	}
	a.args["zone"] = zone
	return a
}

// zoneOf returns the IANA zone of a city that names one, or of a zone's name.
func zoneOf(place string) (string, bool) {
	name := []byte(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(place)), " ", "_"))
	for i := range name {
		if i == 0 || strings.IndexByte("_/-", name[i-1]) >= 0 {
			name[i] = strings.ToUpper(string(name[i]))[0]
		}
	}
	for _, region := range []string{"", "Africa/", "America/", "Asia/", "Australia/", "Europe/", "Pacific/", "Atlantic/"} {
		for _, spelling := range []string{region + string(name), region + strings.ToUpper(string(name))} {
			if _, err := time.LoadLocation(spelling); err == nil && spelling != "Local" {
				return spelling, true
			}
		}
	}
	return "", false
}

var (
	date       = lazyregexp.New(`^\d{4}-\d\d-\d\d`)
	joints     = lazyregexp.New(`(?i)[.?!;]\s+(?:then\s+)?|,?\s+(?:and\s+)?then\s+|,?\s+and\s+|,\s+|\n+`)
	courtesies = lazyregexp.New(`(?i)^(?:(?:please|then|and|now|ok|so)[,]?\s+|(?:can|could|would) you (?:please )?|(?:hi|hello|hey),?\s+|tell me\s+)+`)
)

// Limits of a message that is split. A longer one, or one with more joints, is
// understood only as a single request.
const (
	maxSplit  = 4000 // bytes
	maxJoints = 12
)

// understand returns the actions of a message, nil for none. A message is split only where
// each part has a meaning, so "write salt and pepper to a.txt" stays whole.
func understand(text string) []action {
	at := joints().FindAllStringIndex(text, maxJoints+1)
	if len(text) > maxSplit || len(at) > maxJoints {
		at = nil
	}
	begins := []int{0} // of the clauses
	for _, joint := range at {
		begins = append(begins, joint[1])
	}
	rests := make([][]action, len(begins)) // of the text from each clause on; nil for no meaning
	for i := len(at); i >= 0; i-- {
		if a := match(text[begins[i]:]); a != nil {
			rests[i] = []action{*a}
		}
		for k := i; k < len(at) && rests[i] == nil; k++ {
			if rests[k+1] == nil {
				continue
			}
			if a := match(text[begins[i]:at[k][0]]); a != nil {
				rests[i] = append([]action{*a}, rests[k+1]...)
			}
		}
	}
	return rests[0]
}

// match returns the action of a single clause, nil for none.
func match(clause string) *action {
	clause = strings.TrimRight(strings.TrimSpace(clause), ".?! ")
	for _, text := range []string{clause, courtesies().ReplaceAllString(clause, "")} {
		text = strings.TrimSuffix(strings.TrimSuffix(text, " please"), ",")
		for _, r := range rules() {
			if g := r.re.FindStringSubmatch(text); g != nil {
				if a := r.do(g); a != nil {
					return a
				}
			}
		}
	}
	return nil
}

package offline

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"
)

// An action is the meaning of a clause: a call, or an answer in words.
type action struct {
	tool  string
	args  map[string]string
	words string
}

// A rule is one kind of request. Its function gets the groups of the match, and
// reports false for a clause that only looks like one.
type rule struct {
	re *regexp.Regexp
	do func(g []string) (action, bool)
}

const (
	quoted = "`([^`]+)`" // a command, in backticks
	name   = "[\"'`]?([^\\s\"'`]+)[\"'`]?"
)

// rules are tried in order.
var rules = sync.OnceValue(func() []rule {
	command := func(g []string) (action, bool) { return call("shell", "command", g[1]) }
	sum := func(g []string) (action, bool) {
		if date.MatchString(g[1]) {
			return action{}, false
		}
		expression := strings.NewReplacer("×", "*", "÷", "/", " x ", " * ").Replace(g[1])
		return call("calc", "expression", strings.TrimSpace(expression))
	}
	var all []rule
	add := func(expression string, do func(g []string) (action, bool)) {
		all = append(all, rule{regexp.MustCompile(`(?is)^(?:` + expression + `)$`), do})
	}
	const number = `[-+(]*\d[\d.,]*[)!%]*`
	add(`(?:what(?:'s| is)? )?(?:the )?(?:current )?(?:time|date|day)(?: is it| it is)?(?: today| now)?(?: in ([^,]+))?`, clock)
	add(`(?:compute|calculate):? (.*\d.*)`, sum)
	add(`(?:what(?:'s| is) |how much is )?(`+number+`(?: ?(?:[-+*/^%×÷]| x ) ?`+number+`)+)`, sum)
	add(`run (?:the command:? )?`+quoted, command)
	add(`run the command:? (.+)`, command)
	add(`(?:list|show|ls)(?: me)?(?: all)?(?: the| my)?(?: (?:files|folder|directory))?(?: (?:in|of) `+name+`)?`, func(g []string) (action, bool) {
		if g[1] == "" {
			g[1] = "."
		}
		return call("list_dir", "path", g[1])
	})
	add(`(?:write|save|put) (.+) (?:in)?to (?:the )?(?:file )?`+name, func(g []string) (action, bool) {
		a, ok := file("write_file", g[2])
		a.args["content"] = strings.Trim(g[1], "\"'`")
		return a, ok && !pronoun(g[1])
	})
	add(`(?:read|show|open|cat|print)(?: me)?(?: the)?(?: file)? `+name, func(g []string) (action, bool) { return file("read_file", g[1]) })
	add(`(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| chela)?`, say("Hello! I am chela's offline stand-in; tell me what to do in a few plain words."))
	add(`(?:thanks|thank you)(?: very much)?`, say("You are welcome."))
	add(`help|(?:who|what) are you|what can you do`, say(introduction))
	return all
})

func call(tool, argument, value string) (action, bool) {
	return action{tool: tool, args: map[string]string{argument: value}}, true
}

func say(words string) func([]string) (action, bool) {
	return func([]string) (action, bool) { return action{words: words}, true }
}

// file is a call on a file, whose name must look like one.
func file(tool, path string) (action, bool) {
	a, _ := call(tool, "path", path)
	return a, strings.ContainsAny(path, "./") && !strings.Contains(path, "://") || strings.ToUpper(path) == path
}

func pronoun(text string) bool { return text == "it" || text == "that" || text == "this" }

// clock asks for the time, in a place if there is one.
func clock(g []string) (action, bool) {
	a, _ := call("time", "operation", "now")
	if g[1] == "" {
		return a, true
	}
	zone, ok := zoneOf(g[1])
	if !ok {
		return action{words: "I do not know in which time zone " + g[1] + " is; name a zone such as Europe/Berlin."}, true
	}
	a.args["zone"] = zone
	return a, true
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
	date       = regexp.MustCompile(`^\d{4}-\d\d-\d\d`)
	joints     = regexp.MustCompile(`(?i)[.?!;]\s+(?:then\s+)?|,?\s+(?:and\s+)?then\s+|,?\s+and\s+|,\s+|\n+`)
	courtesies = regexp.MustCompile(`(?i)^(?:(?:please|then|and|now|ok|so)[,]?\s+|(?:can|could|would) you (?:please )?|(?:hi|hello|hey),?\s+|tell me\s+)+`)
)

// Limits of a message that is split. A longer one, or one with more joints, is
// understood only as a single request.
const (
	maxSplit  = 4000 // bytes
	maxJoints = 12
)

// understand returns the actions of a message. A message is split only where
// each part has a meaning, so "write salt and pepper to a.txt" stays whole.
func understand(text string) ([]action, bool) {
	at := joints.FindAllStringIndex(text, maxJoints+1)
	if len(text) > maxSplit || len(at) > maxJoints {
		at = nil
	}
	return splitter{text, at, make([]bool, len(at)+1)}.from(-1)
}

// A splitter searches for the coarsest split of a text into clauses.
type splitter struct {
	text string
	at   [][]int // beginnings and ends of the joints
	dead []bool  // dead[i+1]: the text after joint i cannot be split
}

// from returns the actions of the text after joint i; -1 is the beginning.
func (s splitter) from(i int) ([]action, bool) {
	if s.dead[i+1] {
		return nil, false
	}
	begin := 0
	if i >= 0 {
		begin = s.at[i][1]
	}
	if a, ok := match(s.text[begin:]); ok {
		return []action{a}, true
	}
	for k := i + 1; k < len(s.at); k++ {
		first, ok := match(s.text[begin:s.at[k][0]])
		if !ok {
			continue
		}
		if rest, ok := s.from(k); ok {
			return append([]action{first}, rest...), true
		}
	}
	s.dead[i+1] = true
	return nil, false
}

// match returns the action of a single clause.
func match(clause string) (action, bool) {
	clause = strings.TrimRight(strings.TrimSpace(clause), ".?! ")
	for _, text := range []string{clause, courtesies.ReplaceAllString(clause, "")} {
		text = strings.TrimSuffix(strings.TrimSuffix(text, " please"), ",")
		for _, r := range rules() {
			if g := r.re.FindStringSubmatch(text); g != nil {
				if a, ok := r.do(g); ok {
					return a, true
				}
			}
		}
	}
	return action{}, false
}

// json returns the arguments of a call.
func (a action) json() json.RawMessage {
	raw, err := json.Marshal(a.args)
	if err != nil {
		panic("offline: arguments that cannot be JSON: " + err.Error())
	}
	return raw
}

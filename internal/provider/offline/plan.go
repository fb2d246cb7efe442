package offline

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"chela"
)

// An action is one thing to do: a tool and its arguments. The values of
// arguments are comparable: strings, numbers, booleans, rawJSON, or an earlier.
type action struct {
	tool  string
	args  map[string]any
	place string // time: what the person calls the place
}

// An earlier stands for something that is known once the step before is done.
type earlier int

// The things an action can take from earlier steps.
const (
	earlierText earlier = iota // what the newest step returned
	earlierPath                // the file of the newest call that had one
)

func (a action) needsEarlier() bool {
	for _, v := range a.args {
		if _, ok := v.(earlier); ok {
			return true
		}
	}
	return false
}

func (a action) needsText() bool {
	for _, v := range a.args {
		if v == earlierText {
			return true
		}
	}
	return false
}

// fetches makes the request a save what it gets in the file that b would write
// it to: unlike a result, a file has all of it. It reports whether it could.
func (a action) fetches(b action) bool {
	if a.tool != "http" || b.tool != "write_file" || b.args["content"] != earlierText || a.args["save_to"] != nil {
		return false
	}
	a.args["save_to"] = b.args["path"]
	return true
}

// arguments returns the arguments with what is earlier filled in.
func (a action) arguments(m *moment) json.RawMessage {
	args := make(map[string]any, len(a.args))
	for k, v := range a.args {
		switch v {
		case earlierText:
			args[k], _ = m.earlierText()
		case earlierPath:
			args[k] = m.earlierPath()
		default:
			args[k] = v
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		panic("offline: arguments that cannot be JSON: " + err.Error())
	}
	return raw
}

func (m *moment) earlierPath() string {
	for _, s := range slices.Backward(m.done) {
		for _, c := range slices.Backward(s.calls) {
			if path := argument(c, "path"); path != "" {
				return path
			}
		}
	}
	return ""
}

// argument returns a string argument of a call, or "".
func argument(c chela.CallSpec, name string) string {
	var args map[string]any
	if json.Unmarshal(c.Args, &args) != nil {
		return ""
	}
	s, _ := args[name].(string)
	return s
}

// A meaning is what a clause asks for: actions, words, or both.
type meaning struct {
	actions []action
	words   string
	talk    bool // words without a matter, such as thanks
}

func do(actions ...action) (meaning, bool) { return meaning{actions: actions}, true }

func say(words string) (meaning, bool) { return meaning{words: words}, true }

// A plan is what is done about what was said: steps of actions, one after the
// other, the actions of a step at once.
type plan struct {
	steps   [][]action
	words   []string
	talk    []string // said only if there is nothing else to say
	unclear bool     // what was not understood; nothing is done then
}

// understand makes a plan of the newest user messages. A message that is not
// understood makes the whole plan unclear: doing half of what was asked, or
// the half that sounded right, is worse than asking.
func understand(said []string) plan {
	var p plan
	for _, text := range said {
		if strings.TrimSpace(text) == "" {
			continue // an attachment alone, say
		}
		clauses, ok := clausesOf(text)
		if !ok {
			return plan{unclear: true}
		}
		for _, c := range clauses {
			p.add(c)
		}
	}
	if len(p.steps) == 0 && len(p.words) == 0 && len(p.talk) == 0 {
		return plan{unclear: true}
	}
	if len(p.steps) > 0 && needsEarlier(p.steps[0]) {
		return plan{words: []string{"I cannot tell what that refers to: please name the file or the text."}}
	}
	return p
}

func needsEarlier(actions []action) bool { return slices.ContainsFunc(actions, action.needsEarlier) }

// add appends what a clause means. Its first action joins the newest step
// unless the clause says that it comes after, or needs something from it.
func (p *plan) add(c clause) {
	words := &p.words
	if c.means.talk {
		words = &p.talk
	}
	if c.means.words != "" && !slices.Contains(*words, c.means.words) {
		*words = append(*words, c.means.words)
	}
	for i, a := range c.means.actions {
		n := len(p.steps)
		needs := a.needsEarlier()
		if needs && n > 0 && len(p.steps[n-1]) == 1 && p.steps[n-1][0].fetches(a) {
			continue
		}
		if n == 0 || needs || i == 0 && c.after {
			p.steps = append(p.steps, nil)
			n++
		}
		if !slices.ContainsFunc(p.steps[n-1], a.same) {
			p.steps[n-1] = append(p.steps[n-1], a)
		}
	}
}

func (a action) same(b action) bool { return a.tool == b.tool && maps.Equal(a.args, b.args) }

// next returns the actions that are due, or none when everything was done, or
// something failed or came incomplete that the rest builds on.
func (p *plan) next(m *moment) []action {
	n := len(m.done)
	if n >= len(p.steps) || n > 0 && m.done[n-1].failed() {
		return nil
	}
	if _, whole := m.earlierText(); !whole && slices.ContainsFunc(p.steps[n], action.needsText) {
		return nil
	}
	return p.steps[n]
}

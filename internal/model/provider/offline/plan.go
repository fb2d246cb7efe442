package offline

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"chela"
)

// An action is one call: a tool and its arguments. Argument values are
// comparable: strings, numbers, booleans, rawJSON, or an earlier.
type action struct {
	tool  string
	args  map[string]any
	place string // for the time tool: the place in the person's words
}

// An earlier is a placeholder for a value of the previous step.
type earlier int

// Values that an action can take from earlier steps.
const (
	earlierText earlier = iota // result of the newest step
	earlierPath                // path of the newest call with one
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

// fetches makes the request a save its response to the file that b would write
// it to, since the file gets all of it, unlike a result. It reports whether
// that is possible.
func (a action) fetches(b action) bool {
	if a.tool != "http" || b.tool != "write_file" || b.args["content"] != earlierText || a.args["save_to"] != nil {
		return false
	}
	a.args["save_to"] = b.args["path"]
	return true
}

// arguments returns the arguments with placeholders filled in.
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

// A meaning is the interpretation of a clause: actions, an answer in words, or
// both.
type meaning struct {
	actions []action
	words   string
	talk    bool // small talk, such as thanks
}

func do(actions ...action) (meaning, bool) { return meaning{actions: actions}, true }

func say(words string) (meaning, bool) { return meaning{words: words}, true }

// A plan is the response to the newest messages: a sequence of steps, each a
// set of parallel actions.
type plan struct {
	steps   [][]action
	words   []string
	talk    []string // used only if there is no other answer
	unclear bool     // the text that was not understood; nothing is done then
}

// understand makes a plan for the newest user messages. If any message is not
// understood the whole plan is unclear: a partial or guessed execution would be
// worse than a question.
func understand(said []string) plan {
	var p plan
	for _, text := range said {
		if strings.TrimSpace(text) == "" {
			continue // for example an attachment alone
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

// add appends the meaning of a clause. Its first action joins the newest step,
// unless the clause comes after it or depends on it.
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

// next returns the actions that are due; none if all were done, or if a result
// that the rest depends on failed or was incomplete.
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

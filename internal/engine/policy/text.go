package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"chela"
)

// A TextRule is a safety rule of the owner about the arguments of calls. Empty fields
// match everything.
type TextRule struct {
	Name     string
	Tool     string
	Agent    string
	Channel  string
	Match    *regexp.Regexp
	Severity chela.Severity
	Verdict  chela.Verdict // Deny, Ask, or Allow, which changes nothing
	Reason   string        // for people; may be empty
}

// String describes the rule for people.
func (r TextRule) String() string {
	text := fmt.Sprintf("the safety rule %s (severity %s)", r.Name, r.Severity)
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// Screen applies safety rules to the arguments of a call that was decided on. It
// returns the decision, and the rules that match, the strongest first: a rule that
// denies wins over one that asks, then the graver one. Neither a rule that allows nor a
// grant nor elevation weakens them.
func Screen(rules []TextRule, d Decision, q Question, args json.RawMessage) (Decision, []TextRule) {
	var matched []TextRule
	var texts []string
	same := func(want, got string) bool { return want == "" || want == got }
	for _, r := range rules {
		if !same(r.Tool, q.Tool) || !same(r.Agent, q.Agent) || !same(r.Channel, q.Channel) {
			continue
		}
		if texts == nil {
			texts = textsOf(args)
		}
		if slices.ContainsFunc(texts, r.Match.MatchString) {
			matched = append(matched, r)
		}
	}
	if len(matched) == 0 {
		return d, nil
	}
	slices.SortStableFunc(matched, func(a, b TextRule) int {
		return cmp.Or(strength[b.Verdict]-strength[a.Verdict], b.Severity.Rank()-a.Severity.Rank())
	})
	switch first := matched[0]; {
	case first.Verdict == chela.Deny && d.Verdict != chela.Deny:
		d = Decision{Verdict: chela.Deny, Reason: first.String()}
	case first.Verdict == chela.Ask && d.Verdict == chela.Ask:
		d.Floor, d.Reason = true, d.Reason+"; "+first.String()
	case first.Verdict == chela.Ask && d.Verdict == chela.Allow && q.Elevated == "off":
		d = Decision{Verdict: chela.Deny, Reason: first.String() + ", and elevated is off in this session"}
	case first.Verdict == chela.Ask && d.Verdict == chela.Allow:
		d = Decision{Verdict: chela.Ask, Reason: first.String(), Floor: true}
	}
	return d, matched
}

// textsOf returns the texts of arguments: each name and each string, without the
// escapes of JSON, and the whole.
func textsOf(args json.RawMessage) []string {
	texts := []string{string(args)}
	var v any
	if json.Unmarshal(args, &v) != nil {
		return texts
	}
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, e := range v {
				add(e)
			}
		case map[string]any:
			for name, e := range v {
				texts = append(texts, name)
				add(e)
			}
		}
	}
	add(v)
	return texts
}

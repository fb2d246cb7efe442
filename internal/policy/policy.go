// Package policy decides whether a tool call may run, must be asked about, or
// may not run. Its functions are pure.
//
// What is decided, from the strongest to the weakest:
//
//  1. a rule of the configuration that says deny
//  2. a rule that says ask, then one that says allow
//  3. where no rule matches, the effect: reading and writing in the workspace
//     are allowed; reaching other machines, running programs, sending and
//     spending are asked about
//
// A call with a risk (see chela.Judgement) is asked about even where it would
// be allowed, unless a rule with a pattern names it. A standing answer (a
// chela.Grant) turns ask into allow; one without a pattern does not cover a
// call of the floor: with a risk, or one that sends or spends. Nothing turns deny into anything else.
//
// A session may be elevated by the owner, which decides about what would still
// be asked: off refuses it, on allows to run programs and reach other machines
// short of a risk or a rule that says ask, full allows that too. What sends or
// spends is asked about even then.
package policy

import (
	"slices"
	"strings"

	"chela"
)

// A Rule is one line of the owner's policy. Empty fields match everything.
type Rule struct {
	Tool    string
	Effect  chela.Effect
	Pattern string // of the call's subjects; "*" stands for any text
	Agent   string
	Channel string
	Group   string
	Sender  string
	Verdict chela.Verdict
}

// A Question is a call to be decided about, and who asked for it.
type Question struct {
	Tool      string
	Judgement chela.Judgement
	Agent     string
	Channel   string
	Group     string
	Sender    string

	// Elevated is how the session is: "off", "ask", "on" or "full"; empty means
	// "ask".
	Elevated string
}

// A Decision is a verdict with its reason in words for people.
type Decision struct {
	Verdict chela.Verdict
	Reason  string
}

// Decide rules on a question.
func Decide(rules []Rule, grants []chela.Grant, q Question) Decision {
	d, named := byRules(rules, q)
	guarded := d.Verdict == chela.Ask || q.Judgement.Risk != ""
	if d.Verdict == "" {
		d = byEffect(q.Judgement.Effect)
	}
	if d.Verdict == chela.Allow && q.Judgement.Risk != "" && !named {
		d = Decision{chela.Ask, q.Judgement.Risk}
	}
	if d.Verdict == chela.Ask {
		if covered(grants, q) {
			return Decision{chela.Allow, "allowed before"}
		}
		if q.Judgement.Risk != "" {
			d.Reason = q.Judgement.Risk
		}
		return elevate(d, q, guarded)
	}
	return d
}

// elevate decides about a call that would be asked about. Guarded says that a
// risk or a rule is the reason.
func elevate(ask Decision, q Question, guarded bool) Decision {
	within := q.Judgement.Effect == chela.EffectExecute || q.Judgement.Effect == chela.EffectNetwork
	switch {
	case q.Elevated == "off":
		return Decision{chela.Deny, ask.Reason + ", and elevated is off in this session"}
	case q.Elevated == "full" && within, q.Elevated == "on" && within && !guarded:
		return Decision{chela.Allow, "elevated is " + q.Elevated + " in this session"}
	default:
		return ask
	}
}

// byRules returns the strongest verdict of the rules that match, and whether a
// rule with a pattern gave it.
func byRules(rules []Rule, q Question) (d Decision, named bool) {
	strength := map[chela.Verdict]int{chela.Deny: 3, chela.Ask: 2, chela.Allow: 1}
	for _, r := range rules {
		if !r.matches(q) {
			continue
		}
		switch {
		case strength[r.Verdict] > strength[d.Verdict]:
			d = Decision{r.Verdict, "the policy says " + string(r.Verdict) + " for " + r.subject()}
			named = r.Pattern != ""
		case r.Verdict == d.Verdict:
			named = named || r.Pattern != ""
		}
	}
	return d, named
}

func (r Rule) matches(q Question) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	return same(r.Tool, q.Tool) && same(string(r.Effect), string(q.Judgement.Effect)) && same(r.Agent, q.Agent) &&
		same(r.Channel, q.Channel) && same(r.Group, q.Group) && same(r.Sender, q.Sender) && r.matchesPattern(q.Judgement)
}

// matchesPattern is strict about allowing and generous about the rest: a
// pattern that allows must match every subject, one that forbids any of them.
func (r Rule) matchesPattern(j chela.Judgement) bool {
	if r.Pattern == "" {
		return true
	}
	if r.Verdict == chela.Allow {
		return matchesAll(r.Pattern, j)
	}
	for _, s := range j.Subjects {
		if Match(r.Pattern, s) {
			return true
		}
	}
	return false
}

func (r Rule) subject() string {
	switch {
	case r.Pattern != "":
		return r.Pattern
	case r.Tool != "":
		return r.Tool
	case r.Effect != "":
		return string(r.Effect) + " calls"
	default:
		return "such calls"
	}
}

func byEffect(e chela.Effect) Decision {
	switch e {
	case chela.EffectRead, chela.EffectWrite:
		return Decision{chela.Allow, "stays in the workspace"}
	case chela.EffectNetwork:
		return Decision{chela.Ask, "reaches another machine"}
	case chela.EffectExecute:
		return Decision{chela.Ask, "runs a program"}
	case chela.EffectSend:
		return Decision{chela.Ask, "sends something out"}
	case chela.EffectSpend:
		return Decision{chela.Ask, "costs money"}
	default:
		return Decision{chela.Ask, "has an effect that is not known"}
	}
}

// covered reports whether standing answers cover a call: one without a pattern
// covers whatever the tool does short of the floor; otherwise every subject must be
// matched by a pattern of one of them.
func covered(grants []chela.Grant, q Question) bool {
	own := slices.DeleteFunc(slices.Clone(grants), func(g chela.Grant) bool { return g.Tool != q.Tool || g.Agent != q.Agent })
	if !q.Judgement.Floor() && slices.ContainsFunc(own, func(g chela.Grant) bool { return g.Pattern == "" }) {
		return true
	}
	for _, s := range q.Judgement.Subjects {
		names := func(g chela.Grant) bool {
			return g.Pattern != "" && Names(g.Pattern, g.Literal || q.Judgement.Exact, s)
		}
		if !slices.ContainsFunc(own, names) {
			return false
		}
	}
	return len(q.Judgement.Subjects) > 0
}

// Names reports whether a pattern names a subject: literally, or as Match does.
func Names(pattern string, literal bool, subject string) bool {
	return pattern == subject || !literal && Match(pattern, subject)
}

// matchesAll reports whether a pattern matches each subject of a call, and
// literally so where the subjects could not be taken apart.
func matchesAll(pattern string, j chela.Judgement) bool {
	for _, s := range j.Subjects {
		if !Names(pattern, j.Exact, s) {
			return false
		}
	}
	return len(j.Subjects) > 0
}

// Match reports whether the whole of text matches pattern, in which "*" stands
// for any text, the empty one included, and every other character for itself.
// It takes time proportional to the product of the lengths at the most.
func Match(pattern, text string) bool {
	if pattern == text {
		return true
	}
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return false
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, last)
}

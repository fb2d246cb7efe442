package policy_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/policy"
)

// TestScreen: the strongest of the rules that match decides, and no allowance weakens it.
func TestScreen(t *testing.T) {
	t.Parallel()
	rule := func(name, match string, s chela.Severity, v chela.Verdict) policy.TextRule {
		return policy.TextRule{Name: name, Match: regexp.MustCompile(match), Severity: s, Verdict: v}
	}
	deny := rule("deny", "prod", chela.SeverityLow, chela.Deny)
	ask := rule("ask", "prod", chela.SeverityHigh, chela.Ask)
	graver := rule("graver", "prod", chela.SeverityCritical, chela.Ask)
	warn := rule("warn", "prod", chela.SeverityCritical, chela.Allow)
	other := ask
	other.Tool = "http"
	anchored := rule("anchored", `^rm prod\n-rf$`, chela.SeverityHigh, chela.Deny)
	allow, risky := policy.Decision{Verdict: chela.Allow}, policy.Decision{Verdict: chela.Ask, Reason: "runs a program"}
	for name, c := range map[string]struct {
		rules    []policy.TextRule
		before   policy.Decision
		elevated string
		args     string
		verdict  chela.Verdict
		reason   string
		matched  []string
	}{
		"nothing matches":     {[]policy.TextRule{deny}, allow, "", `{"command":"ls"}`, chela.Allow, "", nil},
		"deny wins":           {[]policy.TextRule{warn, ask, deny}, allow, "", `{"command":"rm prod"}`, chela.Deny, "the safety rule deny (severity low)", []string{"deny", "ask", "warn"}},
		"the graver asks":     {[]policy.TextRule{ask, graver}, allow, "full", `{"command":"rm prod"}`, chela.Ask, "the safety rule graver (severity critical)", []string{"graver", "ask"}},
		"asked already":       {[]policy.TextRule{ask}, risky, "", `{"command":"rm prod"}`, chela.Ask, "runs a program; the safety rule ask (severity high)", []string{"ask"}},
		"denied already":      {[]policy.TextRule{ask}, policy.Decision{Verdict: chela.Deny, Reason: "no"}, "", `{"command":"rm prod"}`, chela.Deny, "no", []string{"ask"}},
		"elevation off":       {[]policy.TextRule{ask}, allow, "off", `{"command":"rm prod"}`, chela.Deny, "the safety rule ask (severity high), and elevated is off in this session", []string{"ask"}},
		"only logged":         {[]policy.TextRule{warn}, allow, "", `{"command":"rm prod"}`, chela.Allow, "", []string{"warn"}},
		"another tool":        {[]policy.TextRule{other}, allow, "", `{"command":"rm prod"}`, chela.Allow, "", nil},
		"escapes of JSON":     {[]policy.TextRule{deny}, allow, "", `{"command":"rm \u0070rod"}`, chela.Deny, "the safety rule deny (severity low)", []string{"deny"}},
		"a whole value":       {[]policy.TextRule{anchored}, allow, "", `{"a":[{"command":"rm prod\n-rf"}]}`, chela.Deny, "the safety rule anchored (severity high)", []string{"anchored"}},
		"the name of a field": {[]policy.TextRule{deny}, allow, "", `{"headers":{"X-prod":"1"}}`, chela.Deny, "the safety rule deny (severity low)", []string{"deny"}},
	} {
		d, matched := policy.Screen(c.rules, c.before, policy.Question{Tool: "shell", Elevated: c.elevated}, json.RawMessage(c.args))
		var names []string
		for _, r := range matched {
			names = append(names, r.Name)
		}
		if d.Verdict != c.verdict || d.Reason != c.reason || d.Floor != (c.verdict == chela.Ask) {
			t.Errorf("%s: %+v, want %s: %q", name, d, c.verdict, c.reason)
		}
		if diff := cmp.Diff(c.matched, names); diff != "" {
			t.Errorf("%s: rules (-want +got):\n%s", name, diff)
		}
	}
}

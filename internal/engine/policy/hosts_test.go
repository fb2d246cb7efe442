package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/policy"
)

// TestHostsAreAskedAbout: that a program may run does not allow it to connect. A
// rule or grants that name the host do.
func TestHostsAreAskedAbout(t *testing.T) {
	t.Parallel()
	const host = "connect://a.example/"
	rule := func(v chela.Verdict, tool, pattern string) policy.Rule {
		return policy.Rule{Verdict: v, Tool: tool, Pattern: pattern}
	}
	grant := func(pattern string, literal bool) chela.Grant {
		return chela.Grant{Tool: "shell", Agent: "main", Pattern: pattern, Literal: literal}
	}
	asks := policy.Decision{Verdict: chela.Ask, Reason: "runs a program that connects to a.example"}
	for _, c := range []struct {
		name     string
		rules    []policy.Rule
		grants   []chela.Grant
		elevated string
		want     policy.Decision
	}{
		{"by its effect", nil, nil, "", asks},
		{"a rule for the tool", []policy.Rule{rule("allow", "shell", "")}, nil, "", asks},
		{"a rule for the command", []policy.Rule{rule("allow", "", "npm*")}, nil, "", asks},
		{"a rule that names both", []policy.Rule{rule("allow", "", "*")}, nil, "", policy.Decision{Verdict: "allow", Reason: "the policy says allow for *"}},
		{"a rule that forbids the host", []policy.Rule{rule("deny", "", "connect://*.example/")}, nil, "full", policy.Decision{Verdict: "deny", Reason: "the policy says deny for connect://*.example/"}},
		{"a grant for the command", nil, []chela.Grant{grant("npm*", false)}, "", asks},
		{"a grant for the host", nil, []chela.Grant{grant(host, true)}, "", asks},
		{"grants for both", nil, []chela.Grant{grant(host, true), grant("npm ci", true)}, "", policy.Decision{Verdict: "allow", Reason: "allowed before"}},
		{"a grant for all hosts", nil, []chela.Grant{grant("connect://*", false), grant("npm ci", true)}, "", asks},
		{"elevated on", nil, nil, "on", asks},
		{"elevated full", nil, nil, "full", policy.Decision{Verdict: "allow", Reason: "elevated is full in this session"}},
		{"elevated off", nil, nil, "off", policy.Decision{Verdict: "deny", Reason: asks.Reason + ", and elevated is off in this session"}},
	} {
		q := runs("npm ci", host)
		q.Judgement.Hosts, q.Elevated = []string{"a.example"}, c.elevated
		if diff := cmp.Diff(c.want, policy.Decide(c.rules, c.grants, q)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

package policy_test

import (
	"testing"

	"chela"
	"chela/internal/engine/policy"
)

// TestElevated has every level against every sort of call.
func TestElevated(t *testing.T) {
	t.Parallel()
	call := func(e chela.Effect, risk string) chela.Judgement {
		return chela.Judgement{Effect: e, Risk: risk, Subjects: []string{"it"}}
	}
	askRule := []policy.Rule{{Verdict: chela.Ask, Tool: "shell"}}
	denyRule := []policy.Rule{{Verdict: chela.Deny, Tool: "shell"}}
	grant := []chela.Grant{{Tool: "shell", Agent: "main", Pattern: "it"}}
	for _, c := range []struct {
		name   string
		j      chela.Judgement
		rules  []policy.Rule
		grants []chela.Grant
		want   [4]chela.Verdict // off, ask, on, full
	}{
		{"read", call(chela.EffectRead, ""), nil, nil, [4]chela.Verdict{"allow", "allow", "allow", "allow"}},
		{"write", call(chela.EffectWrite, ""), nil, nil, [4]chela.Verdict{"allow", "allow", "allow", "allow"}},
		{"execute", call(chela.EffectExecute, ""), nil, nil, [4]chela.Verdict{"deny", "ask", "allow", "allow"}},
		{"network", call(chela.EffectNetwork, ""), nil, nil, [4]chela.Verdict{"deny", "ask", "allow", "allow"}},
		{"send", call(chela.EffectSend, ""), nil, nil, [4]chela.Verdict{"deny", "ask", "ask", "ask"}},
		{"spend", call(chela.EffectSpend, ""), nil, nil, [4]chela.Verdict{"deny", "ask", "ask", "ask"}},
		{"effect that is not known", call("new", ""), nil, nil, [4]chela.Verdict{"deny", "ask", "ask", "ask"}},
		{"risky", call(chela.EffectExecute, "deletes"), nil, nil, [4]chela.Verdict{"deny", "ask", "ask", "allow"}},
		{"risky write", call(chela.EffectWrite, "deletes"), nil, nil, [4]chela.Verdict{"deny", "ask", "ask", "ask"}},
		{"risky send", call(chela.EffectSend, "deletes"), nil, nil, [4]chela.Verdict{"deny", "ask", "ask", "ask"}},
		{
			"opaque",
			chela.Judgement{Effect: chela.EffectExecute, Exact: true, Unknown: true},
			nil, grant,
			[4]chela.Verdict{"deny", "ask", "ask", "ask"},
		},
		{"rule says ask", call(chela.EffectExecute, ""), askRule, nil, [4]chela.Verdict{"deny", "ask", "ask", "allow"}},
		{"rule says deny", call(chela.EffectExecute, ""), denyRule, nil, [4]chela.Verdict{"deny", "deny", "deny", "deny"}},
		{"granted", call(chela.EffectExecute, ""), nil, grant, [4]chela.Verdict{"allow", "allow", "allow", "allow"}},
		{"granted, with a risk that is named", call(chela.EffectExecute, "deletes"), nil, grant, [4]chela.Verdict{"allow", "allow", "allow", "allow"}},
		{"granted without a pattern", call(chela.EffectExecute, ""), nil, []chela.Grant{{Tool: "shell", Agent: "main"}}, [4]chela.Verdict{"deny", "ask", "allow", "allow"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for i, level := range []string{"off", "ask", "on", "full"} {
				q := policy.Question{Tool: "shell", Agent: "main", Judgement: c.j, Elevated: level}
				if got := policy.Decide(c.rules, c.grants, q); got.Verdict != c.want[i] || got.Reason == "" {
					t.Errorf("%s: %+v, want %s", level, got, c.want[i])
				}
			}
			plain := policy.Question{Tool: "shell", Agent: "main", Judgement: c.j}
			if got := policy.Decide(c.rules, c.grants, plain); got.Verdict != c.want[1] {
				t.Errorf("not set: %+v, want %s", got, c.want[1])
			}
		})
	}
}

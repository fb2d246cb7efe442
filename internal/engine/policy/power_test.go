package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/policy"
	"chela/internal/safety"
)

// TestPowersAreAskedAbout: after text from outside nothing but a rule that names
// the call lets it go without a person.
func TestPowersAreAskedAbout(t *testing.T) {
	t.Parallel()
	outside := safety.Outside("https://x.example/page")
	question := policy.Question{
		Tool: "routine_create", Agent: "main", Session: "agent:main:main", Provenance: outside, Elevated: "full",
		Judgement: chela.Judgement{Effect: chela.EffectWrite, Subjects: []string{"daily"}, Power: chela.PowerStanding},
	}
	always := []chela.Grant{
		{Agent: "main", Tool: "routine_create"}, {Agent: "main", Tool: "routine_create", Pattern: "*"}, {Agent: "main", Tool: "routine_create", Pattern: "daily", Literal: true},
	}
	for name, c := range map[string]struct {
		rules  []policy.Rule
		change func(*policy.Question)
		want   chela.Verdict
	}{
		"grants and elevation":          {nil, func(*policy.Question) {}, chela.Ask},
		"elevation off":                 {nil, func(q *policy.Question) { q.Elevated = "off" }, chela.Deny},
		"nothing from outside":          {nil, func(q *policy.Question) { q.Provenance = chela.Provenance{} }, chela.Allow},
		"no power":                      {nil, func(q *policy.Question) { q.Judgement.Power = "" }, chela.Allow},
		"job in a chat":                 {nil, func(q *policy.Question) { q.Judgement.Power = chela.PowerJob }, chela.Allow},
		"job in a job":                  {nil, func(q *policy.Question) { q.Judgement.Power, q.Session = chela.PowerJob, "agent:main:job:1" }, chela.Ask},
		"a rule for everything":         {[]policy.Rule{{Verdict: chela.Allow}}, func(*policy.Question) {}, chela.Ask},
		"a rule for the effect":         {[]policy.Rule{{Effect: chela.EffectWrite, Verdict: chela.Allow}}, func(*policy.Question) {}, chela.Ask},
		"a rule for the tool":           {[]policy.Rule{{Tool: "routine_create", Verdict: chela.Allow}}, func(*policy.Question) {}, chela.Allow},
		"a rule for the subject":        {[]policy.Rule{{Pattern: "dai*", Verdict: chela.Allow}}, func(*policy.Question) {}, chela.Allow},
		"a rule that denies":            {[]policy.Rule{{Effect: chela.EffectWrite, Verdict: chela.Deny}}, func(*policy.Question) {}, chela.Deny},
		"a rule for the tool that asks": {[]policy.Rule{{Tool: "routine_create", Verdict: chela.Ask}}, func(*policy.Question) {}, chela.Ask},
	} {
		q := question
		c.change(&q)
		got := policy.Decide(c.rules, always, q)
		if got.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
		if got.Verdict == chela.Ask && (!got.Floor || !strings.Contains(got.Reason, "after reading https://x.example/page")) {
			t.Errorf("%s: %+v does not name the source", name, got)
		}
	}
}

// TestPowersOfSessions: beginning work counts only in sessions that run by
// themselves, every other power counts everywhere.
func TestPowersOfSessions(t *testing.T) {
	t.Parallel()
	everywhere := []chela.Power{chela.PowerStanding, chela.PowerModel, chela.PowerDelete}
	all := []chela.Power{chela.PowerStanding, chela.PowerJob, chela.PowerModel, chela.PowerDelete}
	for session, want := range map[chela.SessionKey][]chela.Power{
		"agent:main:main":          everywhere,
		"agent:main:telegram:dm:7": everywhere,
		"agent:main:job:1":         all,
		"agent:main:subagent:1":    all,
		"cron:rtn_1":               all,
		"no key":                   all,
	} {
		var got []chela.Power
		for _, power := range append(all[:len(all):len(all)], "") {
			d := policy.Decide(nil, nil, policy.Question{
				Tool: "x", Session: session, Provenance: safety.Outside("a page"), Judgement: chela.Judgement{Effect: chela.EffectRead, Power: power},
			})
			if d.Verdict == chela.Ask {
				got = append(got, power)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", session, diff)
		}
	}
}

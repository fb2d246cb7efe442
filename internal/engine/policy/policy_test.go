package policy_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela"
	"chela/internal/engine/policy"
)

// runs is a question about a program that is run.
func runs(subjects ...string) policy.Question {
	return policy.Question{
		Tool: "shell", Agent: "main", Channel: "telegram", Group: "family", Sender: "ann",
		Judgement: chela.Judgement{Effect: chela.EffectExecute, Subjects: subjects},
	}
}

func TestDecideByEffect(t *testing.T) {
	t.Parallel()
	for effect, want := range map[chela.Effect]policy.Decision{
		chela.EffectRead:    {Verdict: chela.Allow, Reason: "stays in the workspace"},
		chela.EffectWrite:   {Verdict: chela.Allow, Reason: "stays in the workspace"},
		chela.EffectNetwork: {Verdict: chela.Ask, Reason: "reaches another machine"},
		chela.EffectExecute: {Verdict: chela.Ask, Reason: programReason},
		chela.EffectSend:    {Verdict: chela.Ask, Reason: "sends something out"},
		chela.EffectSpend:   {Verdict: chela.Ask, Reason: "costs money"},
		"":                  {Verdict: chela.Ask, Reason: "has an unknown effect"},
		"new":               {Verdict: chela.Ask, Reason: "has an unknown effect"},
	} {
		t.Run("effect "+string(effect), func(t *testing.T) {
			t.Parallel()
			got := policy.Decide(nil, nil, policy.Question{Tool: "any", Judgement: chela.Judgement{Effect: effect}})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecideByRules(t *testing.T) {
	t.Parallel()
	rule := func(v chela.Verdict, pattern string) policy.Rule { return policy.Rule{Verdict: v, Pattern: pattern} }
	risky, exact := runs("rm -r x"), runs("git status; rm x")
	risky.Judgement.Risk = "deletes"
	exact.Judgement.Exact = true
	parted, unknown, opaque := runs("if x; then rm y; fi"), runs("$x y"), runs()
	parted.Judgement.Exact, parted.Judgement.Parts = true, []string{"x", "rm y"}
	unknown.Judgement.Exact, unknown.Judgement.Unknown = true, true
	opaque.Judgement.Exact, opaque.Judgement.Unknown = true, true
	reads := policy.Question{Tool: "file_read", Judgement: chela.Judgement{Effect: chela.EffectRead}}
	for _, c := range []struct {
		name  string
		rules []policy.Rule
		q     policy.Question
		want  policy.Decision
	}{
		{"allow", []policy.Rule{rule("allow", "")}, runs("ls"), policy.Decision{Verdict: "allow", Reason: "the policy says allow for such calls"}},
		{"ask before allow", []policy.Rule{rule("allow", ""), rule("ask", "")}, runs("ls"), policy.Decision{Verdict: "ask", Reason: "the policy says ask for such calls"}},
		{
			"deny before ask before allow",
			[]policy.Rule{rule("allow", "ls"), rule("deny", ""), rule("ask", "")},
			runs("ls"),
			policy.Decision{Verdict: "deny", Reason: "the policy says deny for such calls"},
		},
		{"ask what would be allowed", []policy.Rule{{Verdict: "ask", Tool: "file_read"}}, reads, policy.Decision{Verdict: "ask", Reason: "the policy says ask for file_read"}},
		{"by effect", []policy.Rule{{Verdict: "deny", Effect: "read"}}, reads, policy.Decision{Verdict: "deny", Reason: "the policy says deny for read calls"}},
		{"no rule matches", []policy.Rule{{Verdict: "deny", Tool: "other"}}, reads, policy.Decision{Verdict: "allow", Reason: "stays in the workspace"}},
		{"allow needs every subject", []policy.Rule{rule("allow", "ls*")}, runs("ls -l", "rm x"), policy.Decision{Verdict: "ask", Reason: programReason}},
		{"allow with every subject", []policy.Rule{rule("allow", "ls*")}, runs("ls -l", "ls x"), policy.Decision{Verdict: "allow", Reason: "the policy says allow for ls*"}},
		{"allow without subjects", []policy.Rule{rule("allow", "*")}, runs(), policy.Decision{Verdict: "ask", Reason: programReason}},
		{"deny needs one subject", []policy.Rule{rule("deny", "rm *")}, runs("ls -l", "rm x"), policy.Decision{Verdict: "deny", Reason: "the policy says deny for rm *"}},
		{"ask needs one subject", []policy.Rule{rule("allow", ""), rule("ask", "rm *")}, runs("ls -l", "rm x"), policy.Decision{Verdict: "ask", Reason: "the policy says ask for rm *"}},
		{"exact is not allowed by a wildcard", []policy.Rule{rule("allow", "git *")}, exact, policy.Decision{Verdict: "ask", Reason: programReason}},
		{"exact is allowed by itself", []policy.Rule{rule("allow", "git status; rm x")}, exact, policy.Decision{Verdict: "allow", Reason: "the policy says allow for git status; rm x"}},
		{"exact is denied by a wildcard", []policy.Rule{rule("deny", "*rm*")}, exact, policy.Decision{Verdict: "deny", Reason: "the policy says deny for *rm*"}},
		{"a part is denied", []policy.Rule{rule("deny", "rm *")}, parted, policy.Decision{Verdict: "deny", Reason: "the policy says deny for rm *"}},
		{"a part is asked about", []policy.Rule{rule("allow", ""), rule("ask", "rm *")}, parted, policy.Decision{Verdict: "ask", Reason: "the policy says ask for rm *"}},
		{"a part is not allowed", []policy.Rule{rule("allow", "rm *"), rule("allow", "x")}, parted, policy.Decision{Verdict: "ask", Reason: programReason}},
		{"another part is denied", []policy.Rule{rule("deny", "ls*")}, parted, policy.Decision{Verdict: "ask", Reason: programReason}},
		{"the unknown is denied by any pattern", []policy.Rule{rule("deny", "rm *")}, unknown, policy.Decision{Verdict: "deny", Reason: "the policy says deny for rm *"}},
		{"the unknown is allowed by itself", []policy.Rule{rule("allow", "$x y")}, unknown, policy.Decision{Verdict: "allow", Reason: "the policy says allow for $x y"}},
		{"the opaque is denied by any pattern", []policy.Rule{rule("deny", "rm *")}, opaque, policy.Decision{Verdict: "deny", Reason: "the policy says deny for rm *"}},
		{"the opaque is denied for its own tool only", []policy.Rule{{Tool: "other", Verdict: "deny", Pattern: "rm *"}}, opaque, policy.Decision{Verdict: "ask", Reason: "runs a program"}},
		{"the opaque is never allowed", []policy.Rule{rule("allow", ""), rule("allow", "*")}, opaque, policy.Decision{Verdict: "ask", Reason: "cannot be parsed reliably"}},
		{"a risk is asked about", []policy.Rule{rule("allow", "")}, risky, policy.Decision{Verdict: "ask", Reason: "deletes"}},
		{"a risk that is named", []policy.Rule{rule("allow", "rm -r *")}, risky, policy.Decision{Verdict: "allow", Reason: "the policy says allow for rm -r *"}},
		{"a risk that is named among others", []policy.Rule{rule("allow", ""), rule("allow", "rm -r *")}, risky, policy.Decision{Verdict: "allow", Reason: "the policy says allow for such calls"}},
		{"a risk named by another rule", []policy.Rule{rule("allow", ""), rule("allow", "ls")}, risky, policy.Decision{Verdict: "ask", Reason: "deletes"}},
		{"a risk is denied", []policy.Rule{rule("deny", "")}, risky, policy.Decision{Verdict: "deny", Reason: "the policy says deny for such calls"}},
		{"a rule that asks tells the risk", []policy.Rule{rule("ask", "rm*")}, risky, policy.Decision{Verdict: "ask", Reason: "deletes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, policy.Decide(c.rules, nil, c.q)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

// Every field of a rule must match, and an empty one matches everything.
func TestRuleFields(t *testing.T) {
	t.Parallel()
	whole := policy.Rule{
		Tool: "shell", Effect: chela.EffectExecute, Pattern: "l*", Agent: "main", Channel: "telegram", Group: "family", Sender: "ann",
		Verdict: chela.Deny,
	}
	if got := policy.Decide([]policy.Rule{whole}, nil, runs("ls")).Verdict; got != chela.Deny {
		t.Errorf("the whole rule gives %s", got)
	}
	for name, change := range map[string]func(*policy.Rule){
		"tool":    func(r *policy.Rule) { r.Tool = "other" },
		"effect":  func(r *policy.Rule) { r.Effect = chela.EffectRead },
		"pattern": func(r *policy.Rule) { r.Pattern = "other" },
		"agent":   func(r *policy.Rule) { r.Agent = "other" },
		"channel": func(r *policy.Rule) { r.Channel = "other" },
		"group":   func(r *policy.Rule) { r.Group = "other" },
		"sender":  func(r *policy.Rule) { r.Sender = "other" },
	} {
		r := whole
		change(&r)
		if got := policy.Decide([]policy.Rule{r}, nil, runs("ls")).Verdict; got != chela.Ask {
			t.Errorf("with another %s the rule gives %s", name, got)
		}
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	grant := func(pattern string) chela.Grant { return chela.Grant{Agent: "main", Tool: "shell", Pattern: pattern} }
	risky, exact := runs("rm -r x"), runs("ls | sh")
	risky.Judgement.Risk = "deletes"
	exact.Judgement.Exact = true
	opaque := runs()
	opaque.Judgement.Exact, opaque.Judgement.Unknown = true, true
	sends, spends := runs("POST https://a/b"), runs("buy")
	gets := func(url string) policy.Question {
		q := runs("GET " + url)
		q.Judgement.Effect = chela.EffectNetwork
		return q
	}
	writes, tells := runs("/workspace/a"), runs("telegram:7")
	writes.Judgement.Effect, tells.Judgement.Effect = chela.EffectWrite, chela.EffectSend
	copies := runs("/a/b")
	copies.Judgement.Effect = chela.EffectSend
	sends.Judgement.Effect, spends.Judgement.Effect = chela.EffectSend, chela.EffectSpend
	ask := []policy.Rule{{Verdict: chela.Ask}}
	for _, c := range []struct {
		name   string
		rules  []policy.Rule
		grants []chela.Grant
		q      policy.Question
		want   chela.Verdict
	}{
		{"none", nil, nil, runs("ls"), chela.Ask},
		{"the tool", nil, []chela.Grant{grant("")}, runs("ls"), chela.Ask},
		{"the tool without subjects", nil, []chela.Grant{grant("")}, runs(), chela.Ask},
		{"the tool and the network", nil, []chela.Grant{grant("")}, gets("https://a/b"), chela.Ask},
		{"the tool and the workspace", ask, []chela.Grant{grant("")}, writes, chela.Allow},
		{"a pattern for every program", nil, []chela.Grant{grant("*")}, runs("ls"), chela.Ask},
		{"a pattern for many programs", nil, []chela.Grant{grant("l*")}, runs("ls"), chela.Ask},
		{"a pattern for every request", nil, []chela.Grant{grant("*"), grant("GET *"), grant("GET https://*")}, gets("https://a/b"), chela.Ask},
		{"a pattern that ends in a host", nil, []chela.Grant{grant("GET https://a*")}, gets("https://a/b"), chela.Ask},
		{"a pattern with a wild host", nil, []chela.Grant{grant("GET https://*.a/*")}, gets("https://x.a/b"), chela.Ask},
		{"a pattern for a host", nil, []chela.Grant{grant("GET https://a/*")}, gets("https://a/b"), chela.Allow},
		{"a pattern for another host", nil, []chela.Grant{grant("GET https://a/*")}, gets("https://a.b/b"), chela.Ask},
		{"a pattern for another port", nil, []chela.Grant{grant("GET https://a/*")}, gets("https://a:444/b"), chela.Ask},
		{"a pattern for another scheme", nil, []chela.Grant{grant("GET https://a/*")}, gets("http://a/b"), chela.Ask},
		{"a pattern for every place of a channel", nil, []chela.Grant{grant("telegram:*")}, tells, chela.Ask},
		{"a place of a channel", nil, []chela.Grant{grant("telegram:7")}, tells, chela.Allow},
		{"a pattern without subjects", nil, []chela.Grant{grant("*")}, runs(), chela.Ask},
		{"another tool", nil, []chela.Grant{{Agent: "main", Tool: "other", Pattern: "ls"}}, runs("ls"), chela.Ask},
		{"another agent", nil, []chela.Grant{{Agent: "other", Tool: "shell", Pattern: "ls"}}, runs("ls"), chela.Ask},
		{"a pattern for a folder", ask, []chela.Grant{grant("/workspace/*")}, writes, chela.Allow},
		{"a pattern for what a tool writes", ask, []chela.Grant{grant("*")}, writes, chela.Allow},
		{"a pattern for a folder elsewhere", nil, []chela.Grant{grant("/a/*")}, copies, chela.Allow},
		{"a pattern for every folder elsewhere", nil, []chela.Grant{grant("/*")}, copies, chela.Ask},
		{"a pattern for a folder that begins alike", nil, []chela.Grant{grant("/a*")}, copies, chela.Ask},
		{"a pattern", nil, []chela.Grant{grant("ls*")}, runs("ls -l"), chela.Allow},
		{"a pattern for one of two", nil, []chela.Grant{grant("ls*")}, runs("ls", "rm x"), chela.Ask},
		{"two patterns for two", nil, []chela.Grant{grant("ls*"), grant("rm *")}, runs("ls", "rm x"), chela.Allow},
		{"the tool and a risk", nil, []chela.Grant{grant("")}, risky, chela.Ask},
		{"the tool and what sends", nil, []chela.Grant{grant("")}, sends, chela.Ask},
		{"the tool and what spends", nil, []chela.Grant{grant("")}, spends, chela.Ask},
		{"a pattern and what sends", nil, []chela.Grant{grant("POST https://a/*")}, sends, chela.Allow},
		{"a pattern and a risk", nil, []chela.Grant{grant(""), grant("rm -r *")}, risky, chela.Allow},
		{"a wildcard for what is exact", nil, []chela.Grant{grant("ls*")}, exact, chela.Ask},
		{"what is exact", nil, []chela.Grant{grant("ls | sh")}, exact, chela.Allow},
		{"what is opaque", nil, []chela.Grant{grant(""), grant("*"), {Agent: "main", Tool: "shell", Literal: true}}, opaque, chela.Ask},
		{"a rule that asks", ask, []chela.Grant{grant("ls")}, runs("ls"), chela.Allow},
		{"a rule that denies", []policy.Rule{{Verdict: chela.Deny}}, []chela.Grant{grant(""), grant("*")}, runs("ls"), chela.Deny},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := policy.Decide(c.rules, c.grants, c.q); got.Verdict != c.want || got.Reason == "" {
				t.Errorf("decision %+v, want %s", got, c.want)
			}
		})
	}
}

func TestOffers(t *testing.T) {
	t.Parallel()
	wide := []chela.Offer{{Pattern: "GET https://a/*"}}
	for name, c := range map[string]struct {
		j    chela.Judgement
		want []chela.Offer
	}{
		"of the tool":       {chela.Judgement{Effect: chela.EffectNetwork, Subjects: []string{"GET https://a/b"}, Offers: wide}, wide},
		"commands":          {chela.Judgement{Effect: chela.EffectExecute, Subjects: []string{"ls *"}}, []chela.Offer{{Pattern: "ls *", Literal: true}}},
		"nothing to name":   {chela.Judgement{Effect: chela.EffectExecute}, []chela.Offer{}},
		"a risk":            {chela.Judgement{Effect: chela.EffectExecute, Subjects: []string{"rm x"}, Risk: "deletes"}, nil},
		"what sends":        {chela.Judgement{Effect: chela.EffectSend, Subjects: []string{"telegram:7"}, Offers: wide}, nil},
		"in the workspace":  {chela.Judgement{Effect: chela.EffectWrite, Subjects: []string{"/workspace/a"}}, []chela.Offer{{}}},
		"an unknown effect": {chela.Judgement{Effect: "new", Subjects: []string{"x"}}, []chela.Offer{{Pattern: "x", Literal: true}}},
	} {
		if diff := cmp.Diff(c.want, policy.Offers(c.j)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Whatever is offered covers the call that it is offered for, and nothing that
// leaves the workspace is covered by a grant without a pattern.
func TestOffersCoverTheirCall(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		q.Judgement.Effect = rapid.SampledFrom([]chela.Effect{
			chela.EffectRead, chela.EffectWrite, chela.EffectNetwork, chela.EffectExecute, chela.EffectSend, chela.EffectSpend, "new",
		}).Draw(t, "effect")
		ask := []policy.Rule{{Verdict: chela.Ask}}
		var grants []chela.Grant
		for _, o := range policy.Offers(q.Judgement) {
			grants = append(grants, chela.Grant{Tool: q.Tool, Agent: q.Agent, Pattern: o.Pattern, Literal: o.Literal})
		}
		if got := policy.Decide(ask, grants, q).Verdict; len(grants) > 0 && got != chela.Allow {
			t.Errorf("%+v is %s with all that was offered", q, got)
		}
		local := q.Judgement.Effect == chela.EffectRead || q.Judgement.Effect == chela.EffectWrite
		if got := policy.Decide(ask, []chela.Grant{{Tool: q.Tool, Agent: q.Agent}}, q).Verdict; got == chela.Allow && !local {
			t.Errorf("%+v is covered by a grant without a pattern", q)
		}
	})
}

func TestStale(t *testing.T) {
	t.Parallel()
	get := chela.Approval{Effect: chela.EffectNetwork, Subjects: []string{"GET https://a/b", "/workspace/x"}}
	write := chela.Approval{Effect: chela.EffectWrite, Subjects: []string{"/workspace/x"}}
	for name, c := range map[string]struct {
		g    chela.Grant
		a    chela.Approval
		want bool
	}{
		"the network":        {chela.Grant{}, get, true},
		"the workspace":      {chela.Grant{}, write, false},
		"a wide pattern":     {chela.Grant{Pattern: "GET *"}, get, true},
		"a host":             {chela.Grant{Pattern: "GET https://a/*"}, get, false},
		"its file":           {chela.Grant{Pattern: "/workspace/x", Literal: true}, get, false},
		"a form of long ago": {chela.Grant{Pattern: "GET https://A/b", Literal: true}, get, true},
	} {
		if got := policy.Stale(c.g, c.a); got != c.want {
			t.Errorf("%s is stale: %t, want %t", name, got, c.want)
		}
	}
}

// Words, few enough that rules and questions often meet.
var (
	somewhere = rapid.SampledFrom([]string{"", "a", "b"})
	pattern   = rapid.SampledFrom([]string{"", "*", "a", "a*", "b*", "a*b"})
	effect    = rapid.SampledFrom([]chela.Effect{chela.EffectRead, chela.EffectExecute, chela.EffectSpend, ""})
)

func drawRule(t *rapid.T, verdicts ...chela.Verdict) policy.Rule {
	return policy.Rule{
		Tool: somewhere.Draw(t, "tool"), Effect: rapid.OneOf(effect, rapid.Just[chela.Effect]("")).Draw(t, "effect"),
		Pattern: pattern.Draw(t, "pattern"), Agent: somewhere.Draw(t, "agent"), Verdict: rapid.SampledFrom(verdicts).Draw(t, "verdict"),
	}
}

func drawQuestion(t *rapid.T) policy.Question {
	return policy.Question{
		Tool: somewhere.Draw(t, "tool"), Agent: somewhere.Draw(t, "agent"),
		Judgement: chela.Judgement{
			Effect: effect.Draw(t, "effect"), Risk: rapid.SampledFrom([]string{"", "risk"}).Draw(t, "risk"),
			Subjects: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ab", "b", "axb"}), 0, 3).Draw(t, "subjects"),
			Exact:    rapid.Bool().Draw(t, "exact"),
		},
	}
}

func drawGrants(t *rapid.T) []chela.Grant {
	grants := make([]chela.Grant, rapid.IntRange(0, 3).Draw(t, "grants"))
	for i := range grants {
		grants[i] = chela.Grant{Tool: somewhere.Draw(t, "tool"), Agent: somewhere.Draw(t, "agent"), Pattern: pattern.Draw(t, "pattern")}
	}
	return grants
}

// weaker reports whether v lets more pass than than does.
func weaker(v, than chela.Verdict) bool {
	order := []chela.Verdict{chela.Deny, chela.Ask, chela.Allow}
	return slices.Index(order, v) > slices.Index(order, than)
}

// A rule that denies never lets anything pass that did not, wherever it
// stands; one that asks neither, unless a person said yes already. The order of
// rules does not matter.
func TestRulesThatForbid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules := make([]policy.Rule, rapid.IntRange(0, 4).Draw(t, "rules"))
		for i := range rules {
			rules[i] = drawRule(t, chela.Allow, chela.Ask, chela.Deny)
		}
		grants, q := drawGrants(t), drawQuestion(t)
		before := policy.Decide(rules, grants, q)
		more := slices.Insert(slices.Clone(rules), rapid.IntRange(0, len(rules)).Draw(t, "place"), drawRule(t, chela.Deny))
		if after := policy.Decide(more, grants, q); weaker(after.Verdict, before.Verdict) {
			t.Errorf("%s became %s by another rule that denies", before.Verdict, after.Verdict)
		}
		strict := append(slices.Clone(rules), drawRule(t, chela.Ask))
		if after := policy.Decide(strict, nil, q); weaker(after.Verdict, policy.Decide(rules, nil, q).Verdict) {
			t.Errorf("%s became %s by another rule that asks", before.Verdict, after.Verdict)
		}
		turned := slices.Clone(rules)
		slices.Reverse(turned)
		if after := policy.Decide(turned, grants, q); after.Verdict != before.Verdict {
			t.Errorf("%s became %s by another order", before.Verdict, after.Verdict)
		}
		if none := policy.Decide(rules, nil, q); weaker(none.Verdict, before.Verdict) || none.Verdict == chela.Deny && before.Verdict != chela.Deny {
			t.Errorf("%s without standing answers, %s with them", none.Verdict, before.Verdict)
		}
	})
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "anything\nat all", true},
		{"a", "a", true},
		{"a", "A", false},
		{"a*", "a", true},
		{"*a", "ba", true},
		{"*a", "ab", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"ab*b", "ab", false},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "abbc", true},
		{"a*b*c", "acb", false},
		{"**", "a", true},
		{"a.c", "abc", false},
		{"[a]", "a", false},
		{"git *", "git", false},
		{"git *", "git status", true},
		{"a*b", "a*b", true},
		{"*ab*ab", "ab", false},
		{"é*", "é", true},
	} {
		if got := policy.Match(c.pattern, c.text); got != c.want {
			t.Errorf("Match(%q, %q) is %t, want %t", c.pattern, c.text, got, c.want)
		}
	}
}

// FuzzMatch compares Match with a regular expression over bytes.
func FuzzMatch(f *testing.F) {
	for _, seed := range []string{"", "*", "a*b", "git *", "*a*a*", "\xff*", ".*[", "日*"} {
		f.Add(seed, "a b")
		f.Add("a*"+seed, seed)
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		parts := strings.Split(latin(pattern), "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		want := regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\z`).MatchString(latin(text))
		if got := policy.Match(pattern, text); got != want {
			t.Errorf("Match(%q, %q) is %t, want %t", pattern, text, got, want)
		}
	})
}

// latin makes a rune of every byte, so that any text is valid.
func latin(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// programReason is the reason of a question about a program that nothing bounds.
const programReason = "runs a program that may reach other machines or files outside of the workspace"

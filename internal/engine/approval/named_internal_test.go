package approval

import (
	"testing"

	"chela"
)

// TestPatternsNameRiskyCalls: a pattern of asterisks alone is no answer for a risky
// call.
func TestPatternsNameRiskyCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		risky   bool
		want    chela.Kind
	}{
		{"*", true, chela.Invalid},
		{"***", true, chela.Invalid},
		{"git push origin", true, ""},
		{"git push origin", false, ""},
		{"", true, ""},
		{"cargo build", false, chela.Invalid},
	} {
		a := chela.Approval{Effect: chela.EffectExecute, Subjects: []string{"git push origin"}, Floor: c.risky}
		offers, err := named(a, c.pattern)
		if chela.KindOf(err) != c.want || (err == nil) != (len(offers) == 1) {
			t.Errorf("pattern %q, risky %v: %+v, %v; want kind %q", c.pattern, c.risky, offers, err, c.want)
		}
	}
	if _, err := named(chela.Approval{Floor: true, Subjects: []string{"x"}}, "*"); chela.HintOf(err) != "spell out the part to be allowed" {
		t.Errorf("hint %q", chela.HintOf(err))
	}
}

// TestWithoutAPatternTheCallItselfIsOffered: the offer is literal, so that a * in the
// call covers nothing else; a written pattern is not.
func TestWithoutAPatternTheCallItselfIsOffered(t *testing.T) {
	t.Parallel()
	a := chela.Approval{Effect: chela.EffectExecute, Subjects: []string{"ls *"}}
	for pattern, literal := range map[string]bool{"": true, "ls *": false} {
		offers, err := named(a, pattern)
		if err != nil || len(offers) != 1 || offers[0].Pattern != "ls *" || offers[0].Literal != literal {
			t.Errorf("pattern %q: %+v, %v; want literal %v", pattern, offers, err, literal)
		}
	}
}

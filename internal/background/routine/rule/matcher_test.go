package rule_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/background/routine/rule"
)

func newPatterns(t testing.TB, triggers []rule.Pattern) *rule.Patterns {
	t.Helper()
	s, err := rule.NewPatterns(triggers)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMatch(t *testing.T) {
	t.Parallel()
	s := newPatterns(t, []rule.Pattern{
		{Routine: "deploy", Pattern: `\bdeploy(ed|ing)?\b`},
		{Routine: "invoice", Pattern: `(?i)(invoice|rechnung|facture)`},
		{Routine: "ops", Channel: "ops", Pattern: `.`},
		{Routine: "digits", Pattern: `^\d{4}$`},
		{Routine: "deploy", Channel: "ops", Pattern: `deploy`},
		{Routine: "tasks", Pattern: `(?i)tasks`},
		{Routine: "umlaut", Pattern: `(?i)grüße`},
		{Routine: "case", Pattern: `URGENT`},
		{Routine: "first", Pattern: `(?s)^help.*now$`},
	})
	tests := []struct {
		channel, text string
		want          []chela.RoutineID
	}{
		{"telegram", "nothing of this", nil},
		{"telegram", "", nil},
		{"telegram", "we deployed it", []chela.RoutineID{"deploy"}},
		{"telegram", "redeploy", nil},
		{"ops", "we deploy", []chela.RoutineID{"deploy", "ops", "deploy"}},
		{"ops", "", nil},
		{"Ops", "x", nil},
		{"telegram", "Ihre RECHNUNG", []chela.RoutineID{"invoice"}},
		{"telegram", "Invoice for the deploy", []chela.RoutineID{"deploy", "invoice"}},
		{"telegram", "2026", []chela.RoutineID{"digits"}},
		{"telegram", "in 2026", nil},
		{"telegram", "TA\u017f\u212aS", []chela.RoutineID{"tasks"}},
		{"telegram", "Viele GRÜSSE", nil},
		{"telegram", "Viele GRÜẞE", []chela.RoutineID{"umlaut"}},
		{"telegram", "urgent", nil},
		{"telegram", "URGENT", []chela.RoutineID{"case"}},
		{"telegram", "help me\nright now", []chela.RoutineID{"first"}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, s.Match(test.channel, test.text)); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", test.channel, test.text, diff)
		}
	}
}

func TestZeroPatternsMatchNothing(t *testing.T) {
	t.Parallel()
	if got := new(rule.Patterns).Match("telegram", "anything"); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestTextIsCut(t *testing.T) {
	t.Parallel()
	s := newPatterns(t, []rule.Pattern{
		{Routine: "word", Pattern: "needle"},
		{Routine: "letter", Pattern: "é"},
		{Routine: "broken", Pattern: `\x{FFFD}`},
	})
	within := strings.Repeat("x", rule.MaxTextBytes-len("needle"))
	tests := []struct {
		text string
		want []chela.RoutineID
	}{
		{within + "needle" + "é", []chela.RoutineID{"word"}},
		{within + "x" + "needle", nil},
		{strings.Repeat("x", rule.MaxTextBytes-1) + "é", nil},
		{strings.Repeat("x", rule.MaxTextBytes-2) + "é", []chela.RoutineID{"letter"}},
	}
	for i, test := range tests {
		if diff := cmp.Diff(test.want, s.Match("", test.text)); diff != "" {
			t.Errorf("text %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestCheckPattern(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern string
		want    string // part of what people are told; empty: fine
	}{
		{"deploy", ""},
		{"(?i)a|b", ""},
		{strings.Repeat("x", rule.MaxPatternBytes), ""},
		{"x{1000}x{98}", ""}, // 1,100 instructions
		{"x{1000}x{99}", "compiles to 1101 instructions, and 1100 are allowed"},
		{"", "use . for every message"},
		{strings.Repeat("x", rule.MaxPatternBytes+1), "has 1001 bytes, and 1000 are allowed"},
		{"(", `missing closing ) in "("`},
		{`(?=x)`, `invalid or unsupported Perl syntax in "(?="`},
		{`(a)\1`, `invalid escape sequence in "\\1"`},
		{"x{1001}", `invalid repeat count in "{1001}"`},
		{"((x{100}){10}){10}", "invalid repeat count"},
		{"(x{999}|y{999}|z{999})", "compiles to 3003 instructions, and 1100 are allowed; use smaller repeat counts"},
		{`\pL{500}\pN{500}(?:abc){400}`, "instructions, and 1100 are allowed"},
		{"\xff", "invalid UTF-8"},
		{strings.Repeat("(", 1000), "not a valid regular expression"},
	}
	for _, test := range tests {
		err := rule.CheckPattern(test.pattern)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%.20q: %v", test.pattern, err)
		case test.want != "" && (chela.KindOf(err) != chela.Invalid || !strings.Contains(chela.MessageOf(err), test.want)):
			t.Errorf("%.20q: got %v, want an Invalid error with %q", test.pattern, chela.MessageOf(err), test.want)
		}
	}
}

func TestBadTriggersAreLeftOut(t *testing.T) {
	t.Parallel()
	s, err := rule.NewPatterns([]rule.Pattern{
		{Routine: "rtn_1", Pattern: "("}, {Routine: "rtn_2", Pattern: "x"}, {Routine: "rtn_3"}, {Routine: "rtn_4", Pattern: "x"},
	})
	for _, want := range []string{"rtn_1", "rtn_3"} {
		if err == nil || !strings.Contains(err.Error(), "compile trigger of "+want) {
			t.Errorf("got %v, want an error of %s", err, want)
		}
	}
	if chela.KindOf(err) != chela.Invalid {
		t.Errorf("got a %s error", chela.KindOf(err))
	}
	if diff := cmp.Diff([]chela.RoutineID{"rtn_2", "rtn_4"}, s.Match("", "x")); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
}

// BenchmarkWorst measures what the most expensive expression and text cost.
func BenchmarkWorst(b *testing.B) {
	s := newPatterns(b, []rule.Pattern{{Routine: "rtn_1", Pattern: `(?:x?y?){270}z`}})
	text := strings.Repeat("xy", rule.MaxTextBytes/2)
	for b.Loop() {
		s.Match("telegram", text)
	}
}

package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/config"
)

func TestSafetyRules(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
[[safety]]
name = "card numbers"
match = '\b\d{4}( ?\d{4}){3}\b'
severity = "high"
action = "redact"

[[safety]]
name = "production"
match = "(?i)prod"
places = ["arguments"]
tool = "shell"
action = "ask"
reason = "it names production"
`)
	want := []config.SafetyRule{
		{Name: "card numbers", Match: `\b\d{4}( ?\d{4}){3}\b`, Severity: chela.SeverityHigh, Action: config.SafetyRedact},
		{
			Name: "production", Match: "(?i)prod", Places: []string{"arguments"}, Tool: "shell", Severity: chela.SeverityMedium,
			Action: config.SafetyAsk, Reason: "it names production",
		},
	}
	if diff := cmp.Diff(want, c.Safety); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if r := c.Safety[0]; r.In(config.SafetyArguments) || !r.In(config.SafetyAnswers) {
		t.Errorf("%+v looks at the wrong places", r)
	}
}

func TestSafetyRuleErrors(t *testing.T) {
	t.Parallel()
	const fine = "name = \"a\"\nmatch = \"x\"\naction = \"warn\"\n"
	for _, c := range []struct{ text, want string }{
		{"", "safety[1] has no name; add name: questions, results and the log show it"},
		{`name = "a"`, "safety[1] (a) has no match; add match"},
		{"name = \"a\"\nmatch = \"x\"", "safety[1] (a) has no action; add action, one of allow, warn, redact, ask, block"},
		{`match = "("`, `safety[1].match cannot be "("; write a regular expression as Go has them, of at most 2000 bytes`},
		{`match = "x*"`, `safety[1].match cannot be "x*"; write a regular expression as Go has them`},
		{`match = "` + strings.Repeat("x", 2001) + `"`, "safety[1].match cannot be"},
		{`match = "(x{1000}){1000}"`, "safety[1].match cannot be"},
		{`severity = "grave"`, `safety[1].severity cannot be "grave"; write one of low`},
		{`action = "explode"`, `safety[1].action cannot be "explode"; write one of allow`},
		{`places = ["files"]`, "safety[1].places cannot be"},
		{"name = \"a\"\nmatch = \"x\"\naction = \"ask\"\nplaces = [\"results\"]", "safety[1] (a) has the action ask, which is not for results; use the places arguments"},
		{"name = \"a\"\nmatch = \"x\"\naction = \"redact\"\nplaces = [\"arguments\"]", "safety[1] (a) has the action redact, which is not for arguments"},
		{fine + "places = [\"messages\"]\ntool = \"http\"", "safety[1] (a) names a tool, and looks neither at arguments nor at results; remove tool"},
		{fine + "[[safety]]\n" + fine, "safety[2] (a) has the name of another rule"},
		{fine + "colour = 1", "safety[1].colour"},
	} {
		_, err := config.Load(config.Input{Home: "/home/me/.chela", ReadFile: func(string) ([]byte, error) { return []byte("[[safety]]\n" + c.text), nil }})
		if got := chela.MessageOf(err) + "; " + chela.HintOf(err); err == nil || !strings.Contains(got, c.want) || !strings.Contains(got, "config.toml:") {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	var many strings.Builder
	for i := range 101 {
		fmt.Fprintf(&many, "[[safety]]\nname = \"r%d\"\nmatch = \"x\"\naction = \"warn\"\n", i)
	}
	_, err := config.Load(config.Input{Home: "/home/me/.chela", ReadFile: func(string) ([]byte, error) { return []byte(many.String()), nil }})
	if err == nil || !strings.Contains(err.Error(), "safety[101] (r100) is one more than 100 rules") {
		t.Errorf("101 rules: %v", err)
	}
}

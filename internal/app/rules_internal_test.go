package app

import (
	"strings"
	"testing"

	"chela"
	"chela/internal/config"
)

// TestRulesThatNoCallMeets: a rule of the policy that could never apply is refused with
// the way to write it.
func TestRulesThatNoCallMeets(t *testing.T) {
	t.Parallel()
	tools := []chela.Tool{{Name: "http"}, {Name: "shell", Domain: chela.DomainWorker}, {Name: "write_file", Domain: chela.DomainWorker}, {Name: "message"}}
	for _, c := range []struct {
		rule config.Rule
		want string // in the error or its hint; empty for a rule that is fine
	}{
		{config.Rule{Effect: chela.EffectExecute}, ""},
		{config.Rule{Tool: "shel"}, "use shell"},
		{config.Rule{Tool: "*"}, "a rule without tool is for all tools"},
		{config.Rule{Tool: "shell", Pattern: "git *"}, ""},
		{config.Rule{Tool: "message", Pattern: "phone"}, ""},
		{config.Rule{Tool: "write_file"}, ""},
		{config.Rule{Tool: "write_file", Pattern: "*.md"}, ""},
		{config.Rule{Tool: "write_file", Pattern: "/workspace/notes/*"}, ""},
		{config.Rule{Tool: "write_file", Pattern: "/*"}, ""},
		{config.Rule{Tool: "write_file", Pattern: "/work*/notes"}, ""},
		{config.Rule{Tool: "write_file", Pattern: "/work"}, "as in /workspace/work"},
		{config.Rule{Tool: "http", Pattern: "GET h*"}, ""},
		{config.Rule{Tool: "http", Pattern: "GE*.example/*"}, ""},
		{config.Rule{Tool: "http", Pattern: "GET ftp://*"}, "begin with the method"},
		{config.Rule{Tool: "http", Pattern: "get https://example.com/*"}, "begin with the method"},
		{config.Rule{Tool: "write_file", Pattern: "notes/*"}, "as in /workspace/notes/*"},
		{config.Rule{Tool: "http", Pattern: "*"}, ""},
		{config.Rule{Tool: "http", Pattern: "GET https://example.com/*"}, ""},
		{config.Rule{Tool: "http", Pattern: "P* http*://example.com/*"}, ""},
		{config.Rule{Tool: "http", Pattern: "* https://example.com/*"}, ""},
		{config.Rule{Tool: "http", Pattern: "https://example.com/*"}, "begin with the method"},
		{config.Rule{Tool: "http", Pattern: "GET example.com/*"}, "begin with the method"},
		{config.Rule{Tool: "http", Pattern: "example.com"}, "begin with the method"},
	} {
		err := checkRules([]config.Rule{{Tool: "http"}, c.rule}, tools)
		if got := chela.MessageOf(err); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), "rule 2 of [[policy]]: ") || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.want)
		}
	}
}

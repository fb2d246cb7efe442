package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/config"
)

const hookFile = `
[[hooks]]
point = "before_inbound"
kind = "rule"
match = '\d{4}'
action = "reject"
reason = "no numbers"

[[hooks]]
name = "audit"
point = "before_tool_call"
kind = "webhook"
tool = "shell"
url = "http://127.0.0.1:9/path?token=swordfish"
timeout = "500ms"
on_error = "open"

[[hooks]]
point = "session_end"
kind = "command"
command = ["/usr/bin/true", "--all"]
`

func TestHooks(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, hookFile)
	want := []config.Hook{
		{
			Point: chela.HookBeforeInbound, Kind: config.HookRule, Match: `\d{4}`, Action: config.HookReject, Reason: "no numbers",
			Timeout: 5 * time.Second, OnError: config.HookClosed,
		},
		{
			Name: "audit", Point: chela.HookBeforeToolCall, Kind: config.HookWebhook, Tool: "shell",
			URL: "http://127.0.0.1:9/path?token=swordfish", Timeout: 500 * time.Millisecond, OnError: config.HookOpen,
		},
		{
			Point: chela.HookSessionEnd, Kind: config.HookCommand, Command: []string{"/usr/bin/true", "--all"},
			Timeout: 5 * time.Second, OnError: config.HookClosed,
		},
	}
	if diff := cmp.Diff(want, c.Hooks); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	var listed []string
	for _, v := range c.Values() {
		if strings.HasPrefix(v.Key, "hooks") {
			listed = append(listed, v.Key+" = "+v.Value+" ("+v.Source+")")
		}
	}
	wantListed := []string{
		"hooks[1].action = reject (file config.toml:6)", "hooks[1].kind = rule (file config.toml:4)",
		`hooks[1].match = \d{4} (file config.toml:5)`, "hooks[1].on_error = closed (default)",
		"hooks[1].point = before_inbound (file config.toml:3)", "hooks[1].reason = no numbers (file config.toml:7)",
		"hooks[1].timeout = 5s (default)",
		"hooks[2].kind = webhook (file config.toml:12)", "hooks[2].name = audit (file config.toml:10)",
		"hooks[2].on_error = open (file config.toml:16)", "hooks[2].point = before_tool_call (file config.toml:11)",
		"hooks[2].timeout = 500ms (file config.toml:15)", "hooks[2].tool = shell (file config.toml:13)",
		"hooks[2].url = http://127.0.0.1:9/… (file config.toml:14)",
		"hooks[3].command = [\"/usr/bin/true\", \"--all\"] (file config.toml:21)", "hooks[3].kind = command (file config.toml:20)",
		"hooks[3].on_error = closed (default)", "hooks[3].point = session_end (file config.toml:19)", "hooks[3].timeout = 5s (default)",
	}
	if diff := cmp.Diff(wantListed, listed); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestHookErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "hooks[1] has no point; add point, one of before_inbound, before_tool_call"},
		{"no kind", "point = \"before_inbound\"", "hooks[1] has no kind; add kind, one of rule, command, webhook"},
		{"bad point", "point = \"after_all\"", `hooks[1].point cannot be "after_all"; write one of before_inbound`},
		{"no match", "point = \"before_inbound\"\nkind = \"rule\"\naction = \"reject\"", "hooks[1] is a rule without match; add match"},
		{"no action", "point = \"before_inbound\"\nkind = \"rule\"\nmatch = \"x\"", "hooks[1] is a rule without action; add action"},
		{"no command", "point = \"before_inbound\"\nkind = \"command\"\ncommand = []", "hooks[1] is a command without command; add command"},
		{"no url", "point = \"before_inbound\"\nkind = \"webhook\"", "hooks[1] is a webhook without url; add url"},
		{"bad expression", "match = \"(\"", `hooks[1].match cannot be "("; write a regular expression as Go has them`},
		{"bad url", "url = \"file:///etc/swordfish\"", "hooks[1].url cannot be what was given; write an http or https URL"},
		{"long time", "timeout = \"2m\"", `hooks[1].timeout cannot be "2m"; write a time such as "90s", from 10ms to 1m`},
		{
			"of another kind", "point = \"before_inbound\"\nkind = \"rule\"\nmatch = \"x\"\naction = \"reject\"\non_error = \"open\"",
			"hooks[1] is a rule, to which on_error does not apply; remove it",
		},
		{
			"tool where there is none", "point = \"before_inbound\"\nkind = \"webhook\"\nurl = \"http://x/\"\ntool = \"shell\"",
			"hooks[1] names a tool, but none runs at before_inbound; remove tool",
		},
		{
			"rule for a session", "point = \"session_start\"\nkind = \"rule\"\nmatch = \"x\"\naction = \"reject\"",
			"hooks[1] is a rule, which cannot match at session_start; use a command or a webhook",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(config.Input{
				Home: "/home/me/.chela", ReadFile: func(string) ([]byte, error) { return []byte("[[hooks]]\n" + c.text), nil },
			})
			if got := chela.MessageOf(err); !strings.Contains(got, c.want) || chela.KindOf(err) != chela.Invalid || strings.Contains(got, "swordfish") {
				t.Errorf("error %v %q, want %q", chela.KindOf(err), got, c.want)
			}
		})
	}
}

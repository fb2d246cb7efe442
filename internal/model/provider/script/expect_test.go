package script_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"chela"
)

func TestExpect(t *testing.T) {
	t.Parallel()
	req := ask(user("what now"), assistant(""), result("first"), failed("no such file"))
	req.System = "You are a crab."
	req.Tools = []chela.ToolSpec{{Name: "time"}, {Name: "calc"}}
	req.Thinking, req.MaxTokens = chela.ThinkingLow, 50
	req.Sampling = &chela.Sampling{Stop: []string{"END"}, Format: &chela.Format{Name: "city"}}
	for _, tt := range []struct {
		expect string
		unmet  string // empty if it holds
	}{
		{"{user: what}", ""},
		{"{user: why}", `expected the user text to match "why", got "what now"`},
		{"{user: /^now/}", `expected the user text to match "/^now/", got "what now"`},
		{"{result: no such}", ""},
		{"{result: first}", `expected the newest result to match "first", got "no such file"`},
		{"{failed: true}", ""},
		{"{failed: false}", `expected failed to be false for the result "no such file"`},
		{"{system: crab}", ""},
		{"{system: cat}", `expected the system text to match "cat", got "You are a crab."`},
		{"{contains: first}", ""},
		{"{contains: third}", `expected a message that matches "third"`},
		{"{lacks: third}", ""},
		{"{lacks: /f.rst/}", `expected no message that matches "/f.rst/", got "first"`},
		{"{messages: 4}", ""},
		{"{messages: 5}", `expected 5 messages, got 4`},
		{"{tools: [calc, time]}", ""},
		{"{tools: [calc, shell]}", `expected the tool shell to be offered`},
		{"{no_tools: [shell]}", ""},
		{"{no_tools: [calc]}", `expected the tool calc not to be offered`},
		{"{thinking: low}", ""},
		{"{max_tokens: 50, stop: [END], format: city}", ""},
		{"{max_tokens: 51}", `expected max_tokens to be 51, got 50`},
		{"{stop: []}", `expected the stop sequences [], got ["END"]`},
		{"{format: text}", `expected the format "text", got "city"`},
		{"{thinking: ''}", `expected thinking "", got "low"`},
	} {
		t.Run(tt.expect, func(t *testing.T) {
			t.Parallel()
			p := setup(t, fmt.Sprintf("name: e\npast_end: repeat\nturns: [{steps: [{text: ok, expect: %s}]}]", tt.expect))
			_, _, err := play(t, p, req)
			if tt.unmet == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var got *chela.ProviderError
			want := `scenario "e": turn 1 step 1: ` + tt.unmet
			if !errors.As(err, &got) || got.Kind != chela.Invalid || got.Retryable || got.Msg != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestExpectResultWithoutOne(t *testing.T) {
	t.Parallel()
	p := setup(t, "turns: [{steps: [{text: ok, expect: {failed: false}}]}]")
	if got := text(t, p, user("x")); !strings.HasSuffix(got, "expected a tool result, got none") {
		t.Errorf("got %q", got)
	}
}

func TestErrorsAreShortLines(t *testing.T) {
	t.Parallel()
	p := setup(t, "turns: [{steps: [{text: ok, expect: {user: b}}]}]")
	if got := text(t, p, user(strings.Repeat("ä\n\xff", 100_000))); len(got) > 320 || strings.Contains(got, "\n") || !utf8.ValidString(got) {
		t.Errorf("got %q", got)
	}
}

package cli_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/cli"
	"chela/internal/config"
)

// listens serves on the address of the configuration until it is stopped.
func (h *home) listens(tokens int) func(context.Context, *config.Config, func(cli.Listening)) error {
	return func(ctx context.Context, cfg *config.Config, ready func(cli.Listening)) error {
		ready(cli.Listening{Addresses: []string{cfg.Listen}, Tokens: tokens})
		close(h.busy)
		<-ctx.Done()
		<-h.released // while it still drains, Ctrl-C is as usual again
		return nil
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	const noToken = "there is no token yet, so nobody gets in; make one with chela tokens create NAME\n"
	tests := []struct {
		name   string
		tokens int
		args   []string
		want   result
	}{
		{"default", 1, []string{"serve"}, result{0, "", "chela: listening on http://127.0.0.1:7717\n"}},
		{"flag", 2, []string{"serve", "--listen", "[::1]:80"}, result{0, "", "chela: listening on http://[::1]:80\n"}},
		{"no token", 0, []string{"serve"}, result{0, "", "chela: listening on http://127.0.0.1:7717\n" + noToken}},
		{
			"json", 1,
			[]string{"serve", "--json"},
			result{0, `{"addresses":["127.0.0.1:7717"],"tokens":1}` + "\n", "chela: listening on http://127.0.0.1:7717\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := &home{busy: make(chan struct{}), released: make(chan struct{})}
			h.serve = h.listens(tt.tokens)
			got := h.run(t, "", tt.args...)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestServeFails(t *testing.T) {
	t.Parallel()
	h := &home{serve: func(context.Context, *config.Config, func(cli.Listening)) error {
		return chela.E(chela.Conflict, "process 7 serves this home").WithHint("stop it first")
	}}
	want := result{1, "", "chela: process 7 serves this home; stop it first\n"}
	if diff := cmp.Diff(want, h.run(t, "", "serve"), cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestServeIsTerminated ends the context of the program, as SIGTERM does.
func TestServeIsTerminated(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]error{"well": nil, "badly": chela.E(chela.Unavailable, "2 turns did not end in time")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			h := &home{serve: func(ctx context.Context, _ *config.Config, _ func(cli.Listening)) error {
				cancel()
				<-ctx.Done()
				return end
			}}
			var out, errs strings.Builder
			code := cli.Main(ctx, h.program(&out, &errs, t.TempDir(), "serve"))
			got, want := result{code, out.String(), errs.String()}, result{}
			if end != nil {
				want = result{1, "", "chela: 2 turns did not end in time\n"}
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUsageSince(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"30d": "2026-01-30", "0d": "2026-03-01", "2025-12-31": "2025-12-31"} {
		h := &home{}
		if got := h.run(t, "", "usage", "--since", text); got.code != 0 || h.since.Format(time.DateTime) != want+" 00:00:00" {
			t.Errorf("%s: %+v since %s", text, got, h.since)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "36501d", "2026-02-30", "yesterday"} {
		if got := (&home{}).run(t, "", "usage", "--since", text); got.code != 2 {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestTrace follows a turn of two steps with three calls, one of which runs.
func TestTrace(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return day.Add(time.Duration(ms) * time.Millisecond) }
	h := &home{
		turn: chela.Turn{ID: "turn_1", State: chela.TurnProcessing, Model: "openai/x", Steps: 2, CreatedAt: day},
		entries: []chela.Entry{
			{Kind: chela.EntryUser, CreatedAt: day},
			{Kind: chela.EntryAssistant, CreatedAt: at(700), Body: chela.Body{
				Model: "openai/x", Stop: "tool_calls", Usage: &chela.TokenUsage{Input: 90, CacheRead: 9, CacheWrite: 1, Output: 12},
			}},
			{Kind: chela.EntryToolResult, CreatedAt: at(2000)},
			{Kind: chela.EntryAssistant, CreatedAt: at(2500), Body: chela.Body{Model: "openai/y", Stop: "end"}},
		},
		calls: []chela.ToolCall{
			{ID: "call_1", Step: 1, Tool: "time", State: chela.CallDone, CreatedAt: at(700), FinishedAt: at(702)},
			{ID: "call_2", Step: 1, Tool: "shell", State: chela.CallFailed, CreatedAt: at(700), StartedAt: at(900), FinishedAt: at(2000)},
			{ID: "call_3", Step: 2, Tool: "shell", State: chela.CallRunning, CreatedAt: at(2500), StartedAt: at(2501)},
		},
	}
	got := h.run(t, "", "turns", "trace", "turn_1")
	_, table, _ := strings.Cut(got.out, "\n\n")
	want := strings.TrimPrefix(`
STEP  WHAT      STATE       AFTER   TOOK    INPUT  CACHED  OUTPUT
1     openai/x  tool_calls  0 ms    700 ms  90     10      12
1     time      done        700 ms  2 ms
1     shell     failed      900 ms  1.1 s
2     openai/y  end         2.0 s   500 ms
2     shell     running     2.5 s
`, "\n")
	if diff := cmp.Diff(want, table); diff != "" || got.code != 0 {
		t.Errorf("code %d (-want +got):\n%s", got.code, diff)
	}
}

func TestFirstToken(t *testing.T) {
	t.Parallel()
	h := &home{}
	if got := h.run(t, "", "init", "--yes", "--json"); !strings.Contains(got.out, `"token": "secret-1"`) {
		t.Errorf("the first time: %+v", got)
	}
	want := []chela.Token{{ID: "tok_1", Name: "first", Scope: chela.ScopeAdmin, CreatedAt: day}}
	if diff := cmp.Diff(want, h.tokens); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := h.run(t, "", "init", "--yes", "--json"); strings.Contains(got.out, `"token"`) || len(h.tokens) != 1 {
		t.Errorf("the second time: %+v", got)
	}
	h.run(t, "", "tokens", "revoke", "tok_1")
	if got := h.run(t, "", "init", "--yes"); !strings.Contains(got.out, "secret-2") {
		t.Errorf("after it was revoked: %+v", got)
	}
}

func TestInitNeedsATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := (&home{}).runIn(t, dir, "", "init")
	want := result{2, "", "chela: chela init asks questions, and nobody is at a terminal to answer; take the defaults with chela init --yes\n"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(config.Home(dir).ConfigFile()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
}

func TestPartsThatAreAbsent(t *testing.T) {
	t.Parallel()
	for line, what := range map[string]string{
		"tokens list": "tokens", "sessions reset agent:main:main": "resets", "usage": "sums of usage", "logs": "logs",
		"serve": "chela serve and its API",
	} {
		got := (&home{bare: true}).run(t, "", strings.Split(line, " ")...)
		want := result{1, "", "chela: " + what + " are not in this build; use a newer chela\n"}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	if got := (&home{bare: true}).run(t, "", "init", "--yes"); got.code != 0 {
		t.Errorf("init: %+v", got)
	}
}

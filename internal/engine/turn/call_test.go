package turn_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chela"
	"chela/internal/engine/hook"
	"chela/internal/engine/turn"
	"chela/internal/platform/local"
	"chela/internal/tool"
)

// A callTool runs a call; over is closed at the end of the test.
type callTool func(ctx context.Context, c chela.ToolCall, over <-chan struct{}) (chela.ToolResult, error)

func TestRun(t *testing.T) {
	t.Parallel()
	says := func(r chela.ToolResult, err error) callTool {
		return func(_ context.Context, c chela.ToolCall, _ <-chan struct{}) (chela.ToolResult, error) {
			c.Output("at work")
			return r, err
		}
	}
	waits := func(ctx context.Context, _ chela.ToolCall, _ <-chan struct{}) (chela.ToolResult, error) {
		<-ctx.Done()
		return chela.ToolResult{}, ctx.Err()
	}
	stays := func(_ context.Context, _ chela.ToolCall, over <-chan struct{}) (chela.ToolResult, error) {
		<-over
		return chela.ToolResult{}, nil
	}
	for _, c := range []struct {
		name  string
		run   callTool // nil if there is none
		state chela.CallState
		cause error // with which the call is cancelled
		want  chela.CallState
		text  string
	}{
		{"done", says(chela.ToolResult{Text: "ok"}, nil), chela.CallRunning, nil, chela.CallDone, "ok, looked at"},
		{"failed", says(chela.ToolResult{Text: "no", Failed: true}, nil), chela.CallRunning, nil, chela.CallFailed, "no, looked at"},
		{"cut off", says(chela.ToolResult{Text: "who knows", Failed: true, Unknown: true}, nil), chela.CallRunning, nil, chela.CallUnknown, "who knows, looked at"},
		{"cut off while it read", says(chela.ToolResult{Text: "who knows", Failed: true, Unknown: true}, nil), chela.CallApproved, nil, chela.CallFailed, "who knows, looked at"},
		{"broke", says(chela.ToolResult{}, errors.New("boom")), chela.CallRunning, nil, chela.CallFailed, "the tool broke; this is a fault of chela, not of the call (call_1); part of it may have happened"},
		{"broke while it read", says(chela.ToolResult{}, errors.New("boom")), chela.CallApproved, nil, chela.CallFailed, "the tool broke; this is a fault of chela, not of the call (call_1)"},
		{"gone", nil, chela.CallRunning, nil, chela.CallFailed, "there is no tool look any more"},
		{"stopped", waits, chela.CallRunning, turn.ErrStopped, chela.CallFailed, turn.StoppedText},
		{"out of time", waits, chela.CallRunning, turn.ErrTimeUp, chela.CallFailed, turn.TimeUpText},
		{"left with an effect", stays, chela.CallRunning, turn.ErrStopped, chela.CallUnknown, turn.LeftText},
		{"left while it read", stays, chela.CallApproved, turn.ErrStopped, chela.CallFailed, turn.LeftText},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var events []string
				over := make(chan struct{})
				defer close(over)
				run := func(ctx context.Context, given chela.ToolCall) (chela.ToolResult, error) {
					return c.run(ctx, given, over)
				}
				emit := func(e chela.Event) { events = append(events, string(e.Kind)+" "+string(e.Turn)+" "+e.Text) }
				cfg := turn.Config{Process: local.Process{Now: time.Now, Log: slog.New(slog.DiscardHandler), Emit: emit}, Grace: time.Second}
				hooks, err := hook.New([]hook.Spec{{Name: "look", Point: chela.HookAfterToolCall, Match: "$", Replace: ", looked at"}}, hook.Config{Now: time.Now, Emit: func(chela.Event) {}, Log: cfg.Log})
				if err != nil {
					t.Fatal(err)
				}
				set := &tool.Set{}
				if c.run != nil {
					if set, err = tool.NewSet(chela.Tool{Name: "look", Input: []byte(`{"type":"object"}`), Run: run}); err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if c.cause != nil {
					time.AfterFunc(time.Minute, func() { cancel(c.cause) })
				}
				state, text := turn.RunCall(ctx, cfg, turn.Agent{Tools: set, Hooks: hooks}, chela.ToolCall{ID: "call_1", Turn: "turn_1", Tool: "look", Args: []byte("{}"), State: c.state})
				if state != c.want || text != c.text {
					t.Errorf("%s: %q, want %s: %q", state, text, c.want, c.text)
				}
				if want := "tool.started turn_1 {}"; c.run != nil && (len(events) == 0 || events[0] != want) {
					t.Errorf("events %q, want %q first", events, want)
				}
				if strings.HasSuffix(c.text, "looked at") && events[len(events)-1] != "tool.output turn_1 at work" {
					t.Errorf("events %q", events)
				}
			})
		})
	}
}

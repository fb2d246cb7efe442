package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/tool"
)

// running returns a tool with the given Run.
func running(run func(context.Context, chela.ToolCall) (chela.ToolResult, error)) chela.Tool {
	c := echo()
	c.Run = run
	return c
}

// forever ends with its context.
func forever(ctx context.Context, _ chela.ToolCall) (chela.ToolResult, error) {
	<-ctx.Done()
	return chela.ToolResult{}, ctx.Err()
}

func TestWithTimeout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		own     time.Duration
		call    time.Duration // what a call says
		want    time.Duration // of a call
		timeout time.Duration // of the tool
	}{
		{"own", 5 * time.Second, 0, 5 * time.Second, 5 * time.Second},
		{"of the call", 5 * time.Second, 2 * time.Second, 2 * time.Second, 5 * time.Second},
		{"fallback", 0, 0, time.Minute, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := running(forever)
				c.Timeout, c.Limit = tt.own, func(json.RawMessage) time.Duration { return tt.call }
				c = tool.WithTimeout(time.Minute)(c)
				began := time.Now()
				res, err := c.Run(t.Context(), chela.ToolCall{})
				if err != nil || !res.Failed || !strings.Contains(res.Text, "was stopped after "+tt.want.String()) {
					t.Errorf("got %+v, %v; want a failed result", res, err)
				}
				if took := time.Since(began); took != tt.want {
					t.Errorf("it took %s, want %s", took, tt.want)
				}
				if c.Timeout != tt.timeout {
					t.Errorf("the tool's timeout is %s, want %s", c.Timeout, tt.timeout)
				}
			})
		})
	}
}

func TestWithTimeoutLeavesTheRest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wrap := tool.WithTimeout(time.Minute)
	if _, err := wrap(running(forever)).Run(ctx, chela.ToolCall{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: got %v, want context.Canceled", err)
	}
	fault := errors.New("fault")
	broken := running(func(context.Context, chela.ToolCall) (chela.ToolResult, error) { return chela.ToolResult{}, fault })
	if _, err := wrap(broken).Run(t.Context(), chela.ToolCall{}); !errors.Is(err, fault) {
		t.Errorf("a fault: got %v, want it as it is", err)
	}
}

func TestWithRecover(t *testing.T) {
	t.Parallel()
	c := running(func(context.Context, chela.ToolCall) (chela.ToolResult, error) { panic("secret detail") })
	c.Judge = func(json.RawMessage) chela.Judgement { panic("secret detail") }
	c.Prepare = func(context.Context, chela.ToolCall) (chela.Preparation, error) { panic("secret detail") }
	c.Happened = func(context.Context, chela.ToolCall) (*chela.ToolResult, error) { panic("secret detail") }
	c = tool.WithRecover()(c)

	_, runErr := c.Run(t.Context(), chela.ToolCall{})
	_, prepareErr := c.Prepare(t.Context(), chela.ToolCall{})
	_, happenedErr := c.Happened(t.Context(), chela.ToolCall{})
	for name, err := range map[string]error{"Run": runErr, "Prepare": prepareErr, "Happened": happenedErr} {
		if chela.KindOf(err) != chela.Internal || chela.MessageOf(err) != "tool echo crashed" {
			t.Errorf("%s: got %v, want an Internal error", name, err)
			continue
		}
		if !strings.Contains(err.Error(), "secret detail") || !strings.Contains(err.Error(), "wrap_test.go") {
			t.Errorf("%s: the error has no cause with a stack: %v", name, err)
		}
	}
	want := chela.Judgement{Effect: chela.EffectExecute, Risk: "its arguments cannot be read", Subjects: []string{"{}"}, Exact: true}
	if diff := cmp.Diff(want, c.Judge(json.RawMessage("{}"))); diff != "" {
		t.Errorf("Judge (-want +got)\n%s", diff)
	}
}

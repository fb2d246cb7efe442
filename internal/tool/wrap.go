package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"chela"
	"chela/internal/platform/fail"
)

// DefaultTimeout is the timeout of a tool that sets none.
const DefaultTimeout = 60 * time.Second

// errTimeout is the cause of a context that WithTimeout cancelled.
var errTimeout = errors.New("the tool's time is up")

// WithTimeout returns middleware that cancels a call after the tool's own
// timeout, or after fallback if it has none. A call that times out is a failed
// result for the model; one whose caller's context ends stays an error.
func WithTimeout(fallback time.Duration) func(chela.Tool) chela.Tool {
	return func(t chela.Tool) chela.Tool {
		t.Timeout = cmp.Or(t.Timeout, fallback)
		limited, run := t, t.Run
		t.Run = func(ctx context.Context, call chela.ToolCall) (chela.ToolResult, error) {
			limit := limited.LimitOf(call.Args)
			ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
			defer cancel()
			res, err := run(ctx, call)
			if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
				res := Failed(fmt.Sprintf("%s was stopped after %s; ask for less at once", t.Name, limit))
				res.Faulty = true
				return res, nil
			}
			return res, err
		}
		return t
	}
}

// WithRecover returns middleware that turns a panic of the tool into an
// Internal error. The cause, with the stack, is for the log; if Judge panics,
// the call needs the explicit approval of a person.
func WithRecover() func(chela.Tool) chela.Tool {
	return func(t chela.Tool) chela.Tool {
		if judge := t.Judge; judge != nil {
			t.Judge = func(args json.RawMessage) (j chela.Judgement) {
				defer func() {
					if recover() != nil {
						j = unreadable(args)
					}
				}()
				return judge(args)
			}
		}
		t.Run, t.Prepare, t.Happened = recovered(t.Name, t.Run), recovered(t.Name, t.Prepare), recovered(t.Name, t.Happened)
		t.Changed = recovered(t.Name, t.Changed)
		return t
	}
}

// recovered returns f with panics turned into errors; nil stays nil.
func recovered[Out any](name string, f func(context.Context, chela.ToolCall) (Out, error)) func(context.Context, chela.ToolCall) (Out, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, call chela.ToolCall) (out Out, err error) {
		defer func() {
			if r := recover(); r != nil {
				cause := fmt.Errorf("panic: %v\n%s", r, debug.Stack())
				err = chela.E(chela.Internal, fmt.Sprintf("tool %s crashed", name)).Because(cause)
			}
		}()
		if fail.Mutant("panic-in-" + name) {
			panic(string(call.Args))
		}
		return f(ctx, call)
	}
}

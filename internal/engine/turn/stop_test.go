package turn_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
)

func TestStopBeforeRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.control.Stop()
	s := r.mustRun(chela.TurnInterrupted)
	if s.Thread.State != chela.ThreadInterrupted || len(r.book.entries) != 1 {
		t.Errorf("thread is %s with %d entries", s.Thread.State, len(r.book.entries))
	}
}

func TestStopKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"", "so far"} {
		t.Run("said "+said, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.model.steps = []step{hangs(said, r.control.Stop)}
			s := r.mustRun(chela.TurnInterrupted)
			want := []string{"user: hi"}
			if said != "" {
				want = append(want, "assistant: so far (cut off)")
			}
			if diff := cmp.Diff(want, r.path()); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if s.Turn.Failure == nil || s.Turn.Failure.Message != "interrupted" {
				t.Errorf("failure %+v", s.Turn.Failure)
			}
		})
	}
}

// waits is a tool's Run that reports that it runs, and waits for its end.
func waits(started func()) func(context.Context, chela.ToolCall) (chela.ToolResult, error) {
	return func(ctx context.Context, _ chela.ToolCall) (chela.ToolResult, error) {
		started()
		<-ctx.Done()
		return chela.ToolResult{}, ctx.Err()
	}
}

func TestStopWhileToolsRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tool string
	}{{"reads", "look"}, {"effect", "write"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, say("one", c.tool+" a", "write b"))
			for i := range r.tools {
				r.tools[i].Run = waits(r.control.Stop)
			}
			r.mustRun(chela.TurnInterrupted)
			want := []string{
				"user: hi", "assistant: one",
				"tool_result: interrupted by the user while it ran; part of it may have happened (failed)",
				"tool_result: not run: interrupted (skipped)",
			}
			if diff := cmp.Diff(want, r.path()); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

// A tool that does not end when it is asked to is left behind after the grace
// time; what had an effect is unknown then.
func TestToolThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]chela.CallState{"look": chela.CallFailed, "write": chela.CallUnknown} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, say("one", tool+" a"))
				let := make(chan struct{})
				for i := range r.tools {
					r.tools[i].Run = func(context.Context, chela.ToolCall) (chela.ToolResult, error) {
						r.control.Stop()
						<-let
						return chela.ToolResult{Text: "too late"}, nil
					}
				}
				began := time.Now()
				r.mustRun(chela.TurnInterrupted)
				if waited := time.Since(began); waited != r.cfg.Grace {
					t.Errorf("waited %s, want the grace time of %s", waited, r.cfg.Grace)
				}
				if got := r.book.calls[0].State; got != want {
					t.Errorf("the call is %s, want %s", got, want)
				}
				close(let)
				synctest.Wait()
				if path := r.path(); len(path) != 3 {
					t.Errorf("entries: %q", path)
				}
			})
		})
	}
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]step{
		"in the model": {hangs("so far", func() {})},
		"in a tool":    {say("so far", "write a")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, steps...)
				r.cfg.Limits.Time = time.Minute
				r.tools[1].Run = waits(func() {})
				began := time.Now()
				s := r.mustRun(chela.TurnLimited)
				want := &chela.Failure{Kind: chela.Exhausted, Limit: chela.LimitTime, Message: "the turn took longer than 1m0s"}
				if diff := cmp.Diff(want, s.Turn.Failure); diff != "" {
					t.Errorf("failure (-want +got):\n%s", diff)
				}
				if took := time.Since(began); took != time.Minute {
					t.Errorf("the turn took %s", took)
				}
				if r.path()[1] != "assistant: so far" && r.path()[1] != "assistant: so far (cut off)" {
					t.Errorf("entries: %q", r.path())
				}
			})
		})
	}
}

// A run whose context ends for a reason that is not the turn's own writes
// nothing more: the call that was under way stays marked running.
func TestCutOff(t *testing.T) {
	t.Parallel()
	errShutdown := errors.New("shutting down")
	for _, tool := range []string{"look", "write"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, say("one", tool+" a"))
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			for i := range r.tools {
				r.tools[i].Run = waits(func() { cancel(errShutdown) })
			}
			r.ctx = func() context.Context { return ctx }
			if _, err := r.run(); !errors.Is(err, errShutdown) {
				t.Fatalf("error %v, want %v", err, errShutdown)
			}
			if diff := cmp.Diff([]string{"user: hi", "assistant: one"}, r.path()); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			want := map[string]chela.CallState{"look": chela.CallApproved, "write": chela.CallRunning}[tool]
			if got := r.book.calls[0].State; got != want {
				t.Errorf("the call is %s, want %s", got, want)
			}
		})
	}
}

func TestCutOffInModel(t *testing.T) {
	t.Parallel()
	errShutdown := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r := newRig(t, hangs("so far", func() { cancel(errShutdown) }))
	r.ctx = func() context.Context { return ctx }
	if _, err := r.run(); !errors.Is(err, errShutdown) {
		t.Fatalf("error %v, want %v", err, errShutdown)
	}
	if r.book.attempts != 0 {
		t.Errorf("something was appended: %v", r.book.ops)
	}
}

func TestModelFails(t *testing.T) {
	t.Parallel()
	silent := func(context.Context, func(chela.Chunk, error) bool) {}
	for _, c := range []struct {
		name  string
		steps []step
		want  chela.Failure
	}{
		{
			"an error",
			[]step{fails(&chela.ProviderError{Provider: "test", Kind: chela.Exhausted, Status: 429, Retryable: true, Msg: "slow down"})},
			chela.Failure{Kind: chela.Exhausted, Message: "test answered 429: slow down; try again later"},
		},
		{
			"an error that is not classified",
			[]step{fails(errors.New("odd"))},
			chela.Failure{Kind: chela.Internal, Message: "internal error"},
		},
		{
			"an error after text",
			[]step{func(_ context.Context, yield func(chela.Chunk, error) bool) {
				yield(chela.Chunk{Text: "so"}, nil)
				yield(chela.Chunk{}, &chela.ProviderError{Provider: "test", Kind: chela.Unavailable, Cut: true, Msg: "cut"})
			}},
			chela.Failure{Kind: chela.Unavailable, Message: "test: cut"},
		},
		{
			"neither an end nor an error",
			[]step{silent},
			chela.Failure{Kind: chela.Unavailable, Message: "test/model: the stream ended without an end"},
		},
		{
			"an empty answer",
			[]step{say("")},
			chela.Failure{Kind: chela.Unavailable, Message: "the model returned an empty answer"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.steps...)
			s := r.mustRun(chela.TurnFailed)
			if diff := cmp.Diff(&c.want, s.Turn.Failure); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
			if s.Thread.State != chela.ThreadIdle {
				t.Errorf("thread is %s", s.Thread.State)
			}
		})
	}
}

func TestPromptTooLarge(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.window = 100
	r.book.entries[0].Tokens = 90
	s := r.mustRun(chela.TurnFailed)
	if s.Turn.Failure.Kind != chela.Exhausted || s.Turn.Failure.Limit != chela.LimitPrompt || len(r.model.requests) != 0 {
		t.Errorf("failure %+v after %d requests", s.Turn.Failure, len(r.model.requests))
	}
}

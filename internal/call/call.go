// Package call runs one tool call and waits for it: no longer than its time, and
// after it was cancelled no longer than a time of grace.
package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"chela"
	"chela/internal/control"
	"chela/internal/fail"
	"chela/internal/tool"
)

// What the model reads of calls that did not come to an end of their own.
const (
	StoppedText = "interrupted by the user while it ran; part of it may have happened" // the turn was stopped
	TimeUpText  = "cut off while it ran, the turn's time is up; part of it may have happened"
	LeftText    = "interrupted; it did not end when asked to and may still have an effect" // longer than the grace time
)

// A Runner runs calls. It may be used by several goroutines at once.
type Runner struct {
	Get   func(name string) (chela.Tool, bool)
	After func(ctx context.Context, c chela.ToolCall, r chela.ToolResult) chela.ToolResult // what becomes of a result
	Bound tool.BoundFunc                                                                   // bounds that then; nil leaves it
	Grace time.Duration                                                                    // how long a cancelled tool may take to end
	Now   func() time.Time
	Emit  func(chela.Event)
	Log   *slog.Logger
}

// An Outcome is what a call came to. If Later is set, it came to nothing: the
// turn has to be tried again.
type Outcome struct {
	chela.ToolResult
	State chela.CallState
	Later error
}

// Run runs one call and waits for it; after ctx ended only for the grace time.
func (r Runner) Run(ctx context.Context, c chela.ToolCall) Outcome {
	tool, ok := r.Get(c.Tool)
	if !ok {
		return Failed("there is no tool " + c.Tool + " any more")
	}
	r.started(c, tool)
	c.Output = func(text string) { r.Emit(r.event(c, chela.EventToolOutput, text)) }
	type ended struct {
		result chela.ToolResult
		err    error
	}
	end := make(chan ended, 1)
	go func() { // ends with the tool; Run waits for it, but no longer than the grace time after ctx ended
		result, err := tool.Run(ctx, c)
		if err == nil {
			err = fail.Point("tool.ran")
		}
		end <- ended{result, err}
	}()
	var e ended
	select {
	case e = <-end:
	case <-ctx.Done():
		grace := time.NewTimer(r.Grace)
		defer grace.Stop()
		select {
		case e = <-end:
		case <-grace.C:
			r.Log.Error("tool does not end when cancelled", "tool", c.Tool, "call", c.ID)
			return Outcome{State: left(c), ToolResult: chela.ToolResult{Text: LeftText}}
		}
	}
	return r.Outcome(ctx, c, e.result, e.err)
}

// started announces that a call runs from now on, and until when at most.
func (r Runner) started(c chela.ToolCall, t chela.Tool) {
	e := r.event(c, chela.EventToolStarted, string(c.Args))
	if limit := t.LimitOf(c.Args); limit > 0 {
		e.Until = e.At.Add(limit)
	}
	r.Emit(e)
}

func (r Runner) event(c chela.ToolCall, kind chela.EventKind, text string) chela.Event {
	return chela.Event{Kind: kind, Session: c.Session, Thread: c.Thread, Turn: c.Turn, Call: c.ID, Tool: c.Tool, Text: text, At: r.Now()}
}

// Outcome returns what a call came to that ended with a result or an error.
func (r Runner) Outcome(ctx context.Context, c chela.ToolCall, result chela.ToolResult, err error) Outcome {
	switch {
	case err == nil && result.Failed:
		return Outcome{State: chela.CallFailed, ToolResult: r.after(ctx, c, result)}
	case err == nil:
		return Outcome{State: chela.CallDone, ToolResult: r.after(ctx, c, result)}
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), control.ErrStopped):
		return Failed(StoppedText)
	case ctx.Err() != nil:
		return Failed(TimeUpText)
	case errors.Is(err, chela.ErrLater) && (c.Effect == chela.EffectRead || c.Resume == chela.ResumeRepeat):
		return Outcome{Later: err}
	default:
		r.Log.Error("tool broke", "tool", c.Tool, "call", c.ID, "error", err)
		text := fmt.Sprintf("the tool broke; this is a fault of chela, not of the call (%s)", c.ID)
		if c.State == chela.CallRunning { // it has an effect
			text += "; part of it may have happened"
		}
		return Failed(text)
	}
}

// after is what becomes of a result. It is bounded last, so that what is kept of
// a long one is what hooks left of it.
func (r Runner) after(ctx context.Context, c chela.ToolCall, result chela.ToolResult) chela.ToolResult {
	result = r.After(ctx, c, result)
	if r.Bound == nil {
		return result
	}
	t, _ := r.Get(c.Tool)
	return r.Bound(ctx, t, c.ID, result)
}

// Failed is the outcome of a call that failed.
func Failed(text string) Outcome {
	return Outcome{State: chela.CallFailed, ToolResult: chela.ToolResult{Text: text, Failed: true}}
}

// left is what a call is after it was left behind.
func left(c chela.ToolCall) chela.CallState {
	if c.State == chela.CallRunning {
		return chela.CallUnknown
	}
	return chela.CallFailed
}

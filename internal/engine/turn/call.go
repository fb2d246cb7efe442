package turn

// This part of the package runs one tool call with its timeout, and with a
// grace period after cancellation.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chela"
	"chela/internal/platform/fail"
	"chela/internal/platform/local"
	"chela/internal/tool"
)

// Results shown to the model for calls that did not finish.
const (
	StoppedText = "interrupted by the user while it ran; part of it may have happened" // the turn was stopped
	TimeUpText  = "cut off while it ran, the turn's time is up; part of it may have happened"
	LeftText    = "interrupted; it did not end when asked to and may still have an effect" // exceeded the grace period
)

// A CallRunner runs calls. It is safe for concurrent use.
type CallRunner struct {
	local.Process
	Get   func(name string) (chela.Tool, bool)
	After func(ctx context.Context, c chela.ToolCall, r chela.ToolResult) chela.ToolResult      // post-processes a result, such as hooks
	Bound tool.BoundFunc                                                                        // limits the size of the processed result; nil for no limit
	Rule  func(ctx context.Context, c chela.ToolCall, j chela.Judgement) (chela.Verdict, error) // judges further steps of a running call; nil denies all
	Grace time.Duration                                                                         // grace period of a cancelled tool
}

// An CallOutcome is the end of a call. If Later is set, the call has no outcome and
// the turn must be retried.
type CallOutcome struct {
	chela.ToolResult
	State chela.CallState
	Later error
}

// Run runs one call and waits for it, after the end of ctx for at most the
// grace period.
func (r CallRunner) Run(ctx context.Context, c chela.ToolCall) CallOutcome {
	tool, ok := r.Get(c.Tool)
	if !ok {
		return FailedCall("there is no tool " + c.Tool + " any more")
	}
	r.started(c, tool)
	c.Output = func(text string) { r.Emit(r.event(c, chela.EventToolOutput, text)) }
	if r.Rule != nil {
		c.Rule = func(ctx context.Context, j chela.Judgement) (chela.Verdict, error) { return r.Rule(ctx, c, j) }
	}
	type ended struct {
		result chela.ToolResult
		err    error
	}
	end := make(chan ended, 1)
	go func() { // ends with the tool; Run waits for it up to the grace period after ctx ended
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
			r.Log.Error("tool ignored its cancellation", "tool", c.Tool, "call", c.ID)
			return CallOutcome{State: left(c), ToolResult: chela.ToolResult{Text: LeftText}}
		}
	}
	return r.Outcome(ctx, c, e.result, e.err)
}

// started announces the start of a call and its deadline.
func (r CallRunner) started(c chela.ToolCall, t chela.Tool) {
	e := r.event(c, chela.EventToolStarted, string(c.Args))
	if limit := t.LimitOf(c.Args); limit > 0 {
		e.Until = e.At.Add(limit)
	}
	r.Emit(e)
}

func (r CallRunner) event(c chela.ToolCall, kind chela.EventKind, text string) chela.Event {
	return chela.Event{Kind: kind, Session: c.Session, Thread: c.Thread, Turn: c.Turn, Call: c.ID, Tool: c.Tool, Text: text, At: r.Now()}
}

// Outcome converts a tool's result or error into the outcome of its call. A
// failure of chela's store on a repeatable call sets Later.
func (r CallRunner) Outcome(ctx context.Context, c chela.ToolCall, result chela.ToolResult, err error) CallOutcome {
	switch {
	case err == nil && result.Failed:
		return CallOutcome{State: chela.CallFailed, ToolResult: r.after(ctx, c, result)}
	case err == nil:
		return CallOutcome{State: chela.CallDone, ToolResult: r.after(ctx, c, result)}
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrStopped):
		return FailedCall(StoppedText)
	case ctx.Err() != nil:
		return FailedCall(TimeUpText)
	case errors.Is(err, chela.ErrLater) && (c.Effect == chela.EffectRead || c.Resume == chela.ResumeRepeat):
		return CallOutcome{Later: err}
	default:
		r.Log.Error("tool failed with an internal error", "tool", c.Tool, "call", c.ID, "error", err)
		text := fmt.Sprintf("the tool broke; this is a fault of chela, not of the call (%s)", c.ID)
		if c.State == chela.CallRunning { // it has side effects
			text += "; part of it may have happened"
		}
		return FailedCall(text)
	}
}

// after post-processes a result. The size limit comes last, so the stored copy
// of a long result is the output of the hooks.
func (r CallRunner) after(ctx context.Context, c chela.ToolCall, result chela.ToolResult) chela.ToolResult {
	result = r.After(ctx, c, result)
	if r.Bound == nil {
		return result
	}
	t, _ := r.Get(c.Tool)
	return r.Bound(ctx, t, c.ID, result)
}

// FailedCall returns the outcome of a failed call with a text for the model.
func FailedCall(text string) CallOutcome {
	return CallOutcome{State: chela.CallFailed, ToolResult: chela.ToolResult{Text: text, Failed: true}}
}

// left returns the state of a call abandoned after its grace period.
func left(c chela.ToolCall) chela.CallState {
	if c.State == chela.CallRunning {
		return chela.CallUnknown
	}
	return chela.CallFailed
}

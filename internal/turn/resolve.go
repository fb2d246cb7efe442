package turn

import (
	"context"

	"chela"
	"chela/internal/fail"
)

// What the model reads of calls that did not come to an end of their own.
const (
	SkippedText = "skipped: superseded by a new message"                               // somebody said more first
	StoppedText = "interrupted by the user while it ran; part of it may have happened" // the turn was stopped
	TimeUpText  = "cut off while it ran, the turn's time is up; part of it may have happened"
	LeftText    = "interrupted; it did not end when asked to and may still have an effect" // longer than the grace time
	NotDoneText = "not done: the turn was stopped"                                         // a dead process had begun it
	UnknownText = "chela was stopped while this call ran. It may or may not have happened. It was not repeated: look whether it did before you call it again."
)

func unknown() outcome {
	return outcome{state: chela.CallUnknown, ToolResult: chela.ToolResult{Text: UnknownText, Failed: true}}
}

// resolve decides about calls that a run which is no more had marked running.
func (n *run) resolve(ctx context.Context, calls []chela.ToolCall) error {
	for _, c := range calls {
		out, known := n.found(ctx, c)
		if err := cutOff(ctx); err != nil {
			return err
		}
		if !known {
			out = unknown()
		}
		n.record(c, out)
		if err := n.flush(ctx, "turn.resolve"); err != nil {
			return err
		}
	}
	return nil
}

// found returns what became of a call found running, and whether that can be
// told: by doing it again with the same key where that is harmless, or by
// asking the tool. A turn that was asked to stop does nothing again.
func (n *run) found(ctx context.Context, c chela.ToolCall) (outcome, bool) {
	tool, ok := n.agent.Tools.Get(c.Tool)
	if !ok {
		return outcome{}, false
	}
	stopped := n.state.Turn.Stop || ctx.Err() != nil
	switch {
	case stopped && c.Resume != chela.ResumeQuery:
		return outcome{}, false
	case c.Resume == chela.ResumeRepeat || fail.Mutant("blind-replay"):
		return n.execute(ctx, c), true
	case c.Resume == chela.ResumeQuery && tool.Happened != nil:
		result, err := tool.Happened(context.WithoutCancel(ctx), c)
		if err != nil {
			n.Log.Warn("tool cannot tell whether a call happened", "tool", c.Tool, "call", c.ID, "error", err)
			return outcome{}, false
		}
		if result == nil && stopped {
			return failed(NotDoneText), true
		}
		if result == nil {
			return n.execute(ctx, c), true
		}
		return n.outcomeOf(ctx, c, *result, nil), true
	}
	return outcome{}, false
}

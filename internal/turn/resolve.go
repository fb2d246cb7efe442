package turn

import (
	"cmp"
	"context"

	"chela"
	"chela/internal/call"
	"chela/internal/fail"
)

// What the model reads of calls that did not come to an end of their own.
const (
	SkippedText = "skipped: superseded by a new message" // somebody said more first
	NotDoneText = "not done: the turn was stopped"       // a dead process had begun it
	UnknownText = "chela was stopped while this call ran. It may or may not have happened. It was not repeated: look whether it did before you call it again."
)

func unknown() call.Outcome {
	return call.Outcome{State: chela.CallUnknown, ToolResult: chela.ToolResult{Text: UnknownText, Failed: true}}
}

// resolve decides about calls that a run which is no more had marked running.
func (n *run) resolve(ctx context.Context, calls []chela.ToolCall) error {
	n.again = false // the process died while these ran
	for _, c := range calls {
		out, known := n.found(ctx, c)
		if err := cmp.Or(cutOff(ctx), out.Later); err != nil {
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
func (n *run) found(ctx context.Context, c chela.ToolCall) (call.Outcome, bool) {
	tool, ok := n.agent.Tools.Get(c.Tool)
	if !ok {
		return call.Outcome{}, false
	}
	stopped := n.state.Turn.Stop || ctx.Err() != nil
	switch {
	case stopped && c.Resume != chela.ResumeQuery:
		return call.Outcome{}, false
	case c.Resume == chela.ResumeRepeat || fail.Mutant("blind-replay"):
		return n.calls().Run(ctx, c), true
	case c.Resume == chela.ResumeQuery && tool.Happened != nil:
		result, err := tool.Happened(context.WithoutCancel(ctx), c)
		if err != nil {
			n.Log.Warn("tool cannot tell whether a call happened", "tool", c.Tool, "call", c.ID, "error", err)
			return call.Outcome{}, false
		}
		if result == nil && stopped {
			return call.Failed(NotDoneText), true
		}
		if result == nil {
			return n.calls().Run(ctx, c), true
		}
		return n.calls().Outcome(ctx, c, *result, nil), true
	}
	return call.Outcome{}, false
}

package turn

import (
	"cmp"
	"context"

	"chela"
	"chela/internal/platform/fail"
)

// Results shown to the model for calls that did not finish.
const (
	SkippedText = "skipped: superseded by a new message" // superseded by a newer message
	NotDoneText = "not done: the turn was stopped"       // a dead process had begun it
	UnknownText = "chela was stopped while this call ran. It may or may not have happened. It was not repeated: look whether it did before you call it again."
)

func unknown() callOutcome {
	return callOutcome{State: chela.CallUnknown, ToolResult: chela.ToolResult{Text: UnknownText, Failed: true}}
}

// resolve settles calls that a dead run had marked running.
func (n *run) resolve(ctx context.Context, calls []chela.ToolCall) error {
	n.again = false // the process died during these calls
	for _, c := range calls {
		out, known := n.found(ctx, c)
		if err := cmp.Or(cutOff(ctx), out.later); err != nil {
			return err
		}
		if !known {
			out = unknown()
		}
		n.record(c, n.observe(ctx, c, out))
		if err := n.flush(ctx, "turn.resolve"); err != nil {
			return err
		}
	}
	return nil
}

// found determines the outcome of a call found running, and whether that is
// possible: by repeating it with the same key if its tool allows that, or by
// querying the tool. A stopped turn repeats nothing.
func (n *run) found(ctx context.Context, c chela.ToolCall) (callOutcome, bool) {
	tool, ok := n.agent.Tools.Get(c.Tool)
	if !ok {
		return callOutcome{}, false
	}
	stopped := n.state.Turn.Stop || ctx.Err() != nil
	switch {
	case stopped && c.Resume != chela.ResumeQuery:
		return callOutcome{}, false
	case c.Resume == chela.ResumeRepeat || fail.Mutant("blind-replay"):
		n.queried = n.state.Left // a dead process may have made its next request
		out := n.call(ctx, c)
		n.queried = false
		return out, true
	case c.Resume == chela.ResumeQuery && tool.Happened != nil:
		result, err := tool.Happened(context.WithoutCancel(ctx), c)
		if err != nil {
			n.Log.Warn("tool cannot tell whether a call happened", "tool", c.Tool, "call", c.ID, "error", err)
			return callOutcome{}, false
		}
		if result == nil && stopped {
			return failedCall(NotDoneText), true
		}
		if result == nil {
			return n.call(ctx, c), true
		}
		return n.outcome(ctx, c, *result, nil), true
	}
	return callOutcome{}, false
}

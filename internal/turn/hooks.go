package turn

import (
	"context"

	"chela"
	"chela/internal/cue"
	"chela/internal/hook"
)

// moment is what hooks are told of the turn.
func (n *run) moment(p chela.HookPoint) hook.Moment {
	t := n.state.Turn
	return hook.Moment{
		Point: p, Session: t.Session, Thread: t.Thread, Turn: t.ID, Agent: n.agent.Name, Channel: t.Origin.Channel, Sender: t.Origin.Sender,
	}
}

// fire asks the hooks about a moment. A stop does not cut that short: what came
// before it is not appended yet.
func (n *run) fire(ctx context.Context, m hook.Moment) hook.Verdict {
	return n.agent.Hooks.Fire(context.WithoutCancel(ctx), m)
}

// beforeCall lets hooks change or refuse a call whose arguments were checked.
// It reports whether the call goes on.
func (n *run) beforeCall(ctx context.Context, c chela.ToolCall) (chela.ToolCall, bool) {
	m := n.moment(chela.HookBeforeToolCall)
	m.Tool, m.Args = c.Tool, c.Args
	v := n.fire(ctx, m)
	if v.Refused != "" {
		c.State, c.Why = chela.CallDenied, "denied: "+v.Refused
		return c, false
	}
	if string(v.Args) == string(c.Args) {
		return c, true
	}
	args, err := n.agent.Tools.Check(c.Tool, v.Args)
	if err != nil {
		c.State, c.Why = chela.CallFailed, "not run: a hook changed the arguments, and they do not fit any more: "+lesson(err)
		return c, false
	}
	c.Args = args
	return c, true
}

// afterCall lets hooks change or withhold what a call came to. Reads of one
// batch call it at once.
func (n *run) afterCall(ctx context.Context, c chela.ToolCall, r chela.ToolResult) chela.ToolResult {
	m := n.moment(chela.HookAfterToolCall)
	m.Tool, m.Args, m.Text = c.Tool, c.Args, r.Text
	v := n.fire(ctx, m)
	r.Text = v.Text
	if v.Refused != "" {
		r.Text, r.Attachments, r.Whole = "the call has ended, and its result was withheld: "+v.Refused, nil, nil
	}
	return r
}

// transforms reports whether hooks look at the answer. Then nothing of it is
// shown before they did. What people do not see is not for them.
func (n *run) transforms() bool {
	return !n.state.Flush.On && n.agent.Hooks.Any(n.moment(chela.HookTransform))
}

// transformed is an answer after the hooks have seen it.
func (n *run) transformed(ctx context.Context, text string) string {
	if text == "" || !n.transforms() {
		return text
	}
	m := n.moment(chela.HookTransform)
	m.Text = text
	v := n.fire(ctx, m)
	if text = v.Text; v.Refused != "" {
		text = "(the answer was withheld: " + v.Refused + ")"
	}
	n.emit(chela.Event{Kind: chela.EventTextDelta, Text: text})
	return text
}

// owe adds the reply that is owed for a turn that ended, if hooks let it go. The model
// may have decided that there is none.
func (n *run) owe(ctx context.Context, t chela.Turn) []chela.Outbound {
	silent := t.State == chela.TurnCompleted && cue.Silent(n.state.Answer.Text)
	if t.Origin.ReplyBy != chela.ReplyByOutbox || silent {
		return nil
	}
	out := n.reply(t)
	m := n.moment(chela.HookBeforeOutbound)
	m.Text = out.Text
	v := n.fire(ctx, m)
	if v.Refused != "" {
		return nil
	}
	out.Text = v.Text
	return []chela.Outbound{out}
}

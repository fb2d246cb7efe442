package openai

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/turn"
	"chela/internal/surface/gateway/openai/wire"
)

// replyID returns the id of an answer. It identifies the turn and the message
// that was answered.
func replyID(turn chela.TurnID, tag string) string { return suffix(string(turn)) + tag }

// tag returns a few letters that stand for a message.
func tag(in chela.Inbound) string {
	sum := sha256.Sum256([]byte(in.MessageID))
	return hex.EncodeToString(sum[:tagLetters/2])
}

// tagLetters is how long a tag is.
const tagLetters = 8

// idLetters is how many letters of an id make it unique; see [chela.IDs].
const idLetters = 20

// suffix returns an id without its prefix.
func suffix(id string) string {
	_, rest, _ := strings.Cut(id, "_")
	return rest
}

// named returns the turn that the id of a response names.
func named(response string) (turn chela.TurnID, ok bool) {
	rest, ok := strings.CutPrefix(response, "resp_")
	if !ok || len(rest) != idLetters+tagLetters {
		return "", false
	}
	return chela.TurnID("turn_" + rest[:idLetters]), true
}

// replyOf returns the text of a turn since its last wait. A turn that failed is
// an error, and so is a turn that a limit ended before any text.
func replyOf(t api.Trace) (wire.Reply, error) {
	rep := wire.Reply{Interrupted: t.Turn.State == chela.TurnInterrupted, About: &wire.About{
		Session: t.Turn.Session, Thread: t.Turn.Thread, Turn: t.Turn.ID, State: t.Turn.State,
	}}
	rep.Stop = chela.StopEnd
	if f := t.Turn.Failure; f != nil {
		switch {
		case t.Turn.State == chela.TurnFailed && f.Limit == chela.LimitPrompt:
			return rep, wire.Settled(wire.Refuse("messages", "context_length_exceeded", chela.E(chela.Invalid, f.Message)))
		case t.Turn.State == chela.TurnFailed:
			return rep, wire.Settled(chela.E(f.Kind, f.Message))
		}
		rep.About.Limit = f.Limit
	}
	var texts wire.TextBuilder
	for _, e := range since(t) {
		b, ok := e.Body.(chela.AnswerBody)
		if !ok {
			continue
		}
		rep.Asked = nil
		for _, c := range b.Calls {
			rep.Asked = append(rep.Asked, c.ID)
		}
		if !b.Hidden {
			texts.Add(b.Text)
			rep.Stop = b.Stop
		}
		if u := b.Usage; u != nil {
			rep.Usage = rep.Usage.Plus(*u)
		}
	}
	rep.Text = texts.String()
	if text, ok := turn.Reply(t.Turn, t.Entries); ok {
		rep.Text, rep.Stop = text, chela.StopEnd
	}
	switch {
	case t.Turn.State == chela.TurnAwaiting:
		addWaits(&rep, t)
	case t.Turn.State == chela.TurnLimited && t.Turn.Failure != nil:
		return rep, addLimit(&rep, t.Turn.Failure)
	case t.Turn.State == chela.TurnInterrupted, rep.Stop == chela.StopCalls:
		rep.Stop = chela.StopEnd
	}
	return rep, nil
}

// addLimit notes that a limit ended the turn. Without earlier text that is an
// error, because an empty answer would pass for a complete one. A spending
// limit also says when it resets and how to raise it.
func addLimit(r *wire.Reply, f *chela.Failure) error {
	if r.Text == "" {
		return wire.Settled(&chela.Error{Kind: cmp.Or(f.Kind, chela.Exhausted), Msg: f.Message, Limit: f.Limit})
	}
	r.Stop = chela.StopLength
	if f.Limit.IsOfCost() {
		r.Text = wire.Joined(r.Text, f.Message)
	}
	return nil
}

// addWaits adds the turn's pending waits: results of the client's tools, else a
// person.
func addWaits(r *wire.Reply, t api.Trace) {
	r.Stop = chela.StopEnd
	addCalls(r, t, func(c chela.ToolCall) bool { return c.State == chela.CallRunning })
	if asked := pending(t); asked != nil {
		r.About.Approval = asked.ID
		r.Text = wire.Joined(r.Text, question(*asked))
	}
}

// addCalls adds those calls of the client's tools that were handed out last.
func addCalls(r *wire.Reply, t api.Trace, last func(chela.ToolCall) bool) {
	for _, c := range t.Calls {
		if c.Resume == chela.ResumeWait && last(c) {
			r.Calls = append(r.Calls, chela.CallSpec{ID: c.ID, Ref: string(c.ID), Tool: c.Tool, Args: c.Args})
			r.Stop = chela.StopCalls
		}
	}
}

// pending returns the question that a turn waits with, or nil. Calls are handed
// out only when none is left.
func pending(t api.Trace) *chela.Approval {
	i := slices.IndexFunc(t.Approvals, func(a chela.Approval) bool { return a.State == chela.ApprovalPending })
	if i < 0 {
		return nil
	}
	return &t.Approvals[i]
}

// since returns the entries of a turn after its first message, which may have a
// history before it, or after the last result that it waited for.
func since(t api.Trace) []chela.Entry {
	waited := map[chela.CallID]bool{}
	for _, c := range t.Calls {
		waited[c.ID] = c.Resume == chela.ResumeWait
	}
	for _, a := range t.Approvals {
		waited[a.Call] = true
	}
	begin := 1 + slices.IndexFunc(t.Entries, func(e chela.Entry) bool { return e.User().Inbox != "" })
	for i, e := range t.Entries {
		if waited[e.Result().Call] {
			begin = i + 1
		}
	}
	return t.Entries[begin:]
}

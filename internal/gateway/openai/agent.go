package openai

import (
	"context"
	"net/http"
	"slices"

	"chela"
	"chela/internal/gateway/openai/wire"
)

// serveAgent answers a request by a turn of an agent.
func (a *API) serveAgent(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx := r.Context()
	in, err := a.message(ctx, v)
	if err != nil {
		return err
	}
	if !v.Streamed {
		rep, err := a.turn(ctx, v, in, func(chela.Event) {})
		if err == nil {
			v.Answer(w, rep)
		}
		return err
	}
	out := v.Stream(w)
	name := tag(in)
	ctx, leave := context.WithCancelCause(ctx) // the turn goes on
	defer leave(nil)
	rep, err := a.turn(ctx, v, in, func(e chela.Event) {
		if e.Kind == chela.EventTextReset && out.Told() {
			leave(errAnew)
		}
		if ctx.Err() == nil {
			show(out, e, name)
		}
	})
	if err != nil {
		return out.Fail(wire.Because(ctx, err))
	}
	out.End(rep)
	return nil
}

// show tells an event of a turn, if it says something. That the model has
// answered begins the answer: until then a failure still has a status.
func show(out *wire.Stream, e chela.Event, tag string) {
	switch e.Kind {
	case chela.EventTextDelta:
		out.Say(replyID(e.Turn, tag), e.Text)
	case chela.EventTurnProgress:
		out.Step()
	case chela.EventThinkingDelta, chela.EventTextReset, chela.EventToolRequested, chela.EventToolOffered:
		out.Begin(replyID(e.Turn, tag))
	case chela.EventToolStarted, chela.EventToolOutput, chela.EventToolFinished:
		out.Alive()
	}
}

// turn sends a message and returns what it came to. If the client goes away
// the turn goes on, and its answer is in the thread.
func (a *API) turn(ctx context.Context, v *visit, in chela.Inbound, show func(chela.Event)) (wire.Reply, error) {
	var replied chela.Event
	turn, err := a.cfg.Conversation.Ask(ctx, in, func(e chela.Event) {
		if e.Kind == chela.EventReply {
			replied = e
		}
		show(e)
	})
	if err != nil {
		if turn.ID != "" && !v.repeatable(in) {
			err = wire.Settled(err)
		}
		return wire.Reply{}, err
	}
	if turn.ID == "" {
		return commanded(replied, tag(in)), nil
	}
	trace, err := a.cfg.Turns.Said(ctx, turn.ID)
	if err != nil && !v.repeatable(in) {
		err = wire.Settled(err)
	}
	if err != nil {
		return wire.Reply{}, err
	}
	rep, err := replyOf(trace)
	if err != nil {
		return rep, err
	}
	rep.ID = replyID(turn.ID, tag(in))
	rep.About.Ignored = slices.Concat(v.Ignored, v.ForModel) // the agent's own settings go before
	return rep, nil
}

// commanded returns what a command was answered with. Its id names the thread, so
// that a client can go on there.
func commanded(e chela.Event, tag string) wire.Reply {
	return wire.Reply{
		ID: suffix(string(e.Thread)) + tag, Text: e.Text, Stop: chela.StopEnd,
		About: &wire.About{Session: e.Session, Thread: e.Thread},
	}
}

// repeatable reports whether the request of a message may be sent again: the
// message has an id that does not change, so it is accepted once, and who sends
// it again waits for the same turn.
func (v *visit) repeatable(in chela.Inbound) bool { return v.key != "" || len(in.Results) > 0 }

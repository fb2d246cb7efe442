package openai

import (
	"context"
	"slices"

	"chela"
	"chela/internal/model/provider"
	"chela/internal/surface/gateway/edge"
	"chela/internal/surface/gateway/openai/wire"
)

// serveAgent serves a request through a turn of an agent.
func (a *API) serveAgent(w *edge.Visit, v *agentRequest) error {
	ctx := w.Request.Context()
	in, err := a.message(ctx, v)
	if err == nil {
		err = a.shape(ctx, &in, v)
	}
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

// show streams an event of a turn, if it has text. The model's first event
// begins the response: until then a failure still has a status.
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

// turn sends a message and returns the result of its turn. If the client
// disconnects the turn continues, and its answer is in the thread.
func (a *API) turn(ctx context.Context, v *agentRequest, in chela.Inbound, show func(chela.Event)) (wire.Reply, error) {
	id, err := a.cfg.Conversation.Say(ctx, in, show)
	if err != nil {
		if id != "" && !v.repeatable(in) {
			err = wire.Settled(err)
		}
		return wire.Reply{}, err
	}
	trace, err := a.cfg.Turns.Output(ctx, id)
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
	rep.ID = replyID(id, tag(in))
	rep.About.Ignored = slices.Concat(v.unused, v.Ignored, v.ForModel) // the agent's own settings go before
	return rep, nil
}

// shape applies the request's settings of the answers: their length, stop
// sequences and form. A parameter without effect on a turn is recorded as
// unused, unless the client would rely on it. Parameters that no candidate
// model supports are refused.
func (a *API) shape(ctx context.Context, in *chela.Inbound, v *agentRequest) error {
	in.Overrides.Answer = v.MaxTokens
	set := chela.Sampling{Stop: v.Sampling.Stop, Format: v.Sampling.Format}
	kept := provider.ParametersOf(&set, true)
	for _, p := range provider.ParametersOf(&v.Sampling, true) {
		switch {
		case slices.Contains(kept, p):
		case p == provider.ParameterChoices || p == provider.ParameterLogprobs:
			return wire.Unsupported(v.Field(p), "an agent gives one answer, without log probabilities; ask a bare model, provider/model")
		case p == provider.ParameterToolChoice:
			return wire.Unsupported("tool_choice", "an agent has tools of its own and chooses among them; ask a bare model, provider/model")
		default:
			v.unused = append(v.unused, v.Field(p))
		}
	}
	if len(kept) == 0 {
		return nil
	}
	in.Overrides.Sampling = &set
	models, err := a.cfg.Agents.Candidates(ctx, *in)
	if err != nil {
		return err
	}
	var lacking []provider.Parameter
	for _, model := range models {
		if lacking = a.cfg.Models.Lacks(model, kept); len(lacking) == 0 {
			return nil
		}
	}
	if len(lacking) == 0 {
		return nil // the answering model is not known yet
	}
	return wire.Lacking(v.Field(lacking[0]), lacking[0])
}

// repeatable reports whether the request of a message may be retried: the
// message has a stable id, so it is accepted once, and a retry waits for the
// same turn.
func (v *agentRequest) repeatable(in chela.Inbound) bool {
	return v.caller.Key != "" || len(in.Results) > 0
}

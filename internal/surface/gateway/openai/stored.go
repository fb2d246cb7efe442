package openai

import (
	"context"
	"slices"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
	"chela/internal/surface/gateway/openai/wire"
)

// responses records deleted responses.
type responses interface {
	ResponseDeleted(ctx context.Context, id string) (bool, error)
	// DeleteResponse deletes a response of a turn. A response deleted before is
	// NotFound.
	DeleteResponse(ctx context.Context, id string, turn chela.TurnID) error
}

// Response serves GET /v1/responses/{id}: a response of an agent, built from
// its turn. Of the request only the overrides of the turn are stored.
func (a *API) Response(w *edge.Visit) error {
	ctx, id := w.Request.Context(), w.Request.PathValue("id")
	t, err := a.turnOf(ctx, &agentRequest{caller: w.Caller()}, id)
	if err != nil {
		return wire.Refuse("id", "not_found", err)
	}
	cut, last, err := a.partOf(ctx, t, id)
	if err != nil {
		return err
	}
	rep, failed := replyOf(cut)
	if !last {
		addCalls(&rep, t, func(c chela.ToolCall) bool { return slices.Contains(rep.Asked, c.ID) })
	}
	rep.ID = suffix(id)
	wire.WriteStored(w, modelOf(t.Turn.Session), t.Turn, wire.Stored{Reply: rep, Failed: failed, Open: last && t.Turn.State == chela.TurnProcessing})
	return nil
}

// DeleteResponse serves DELETE /v1/responses/{id}. The entries stay in its
// thread.
func (a *API) DeleteResponse(w *edge.Visit) error {
	ctx, id := w.Request.Context(), w.Request.PathValue("id")
	t, err := a.turnOf(ctx, &agentRequest{caller: w.Caller()}, id)
	if err == nil {
		err = a.cfg.Responses.DeleteResponse(ctx, id, t.Turn.ID)
	}
	if err != nil {
		return wire.Refuse("id", "", err)
	}
	wire.WriteDeleted(w, id)
	return nil
}

// modelOf returns the name of a session's agent as a model.
func modelOf(session chela.SessionKey) string {
	key, err := chela.ParseSessionKey(session)
	if err != nil || key.Agent == "" || key.Agent == chela.MainAgent {
		return agentModel
	}
	return agentModel + "/" + key.Agent
}

// partOf returns a turn as it was when a response of it ended, and whether that is its
// newest response. Each message that the turn took is an entry that names it, but for
// the answer to an approval.
func (a *API) partOf(ctx context.Context, t api.Trace, id string) (cut api.Trace, last bool, err error) {
	begin := -1
	for i, e := range t.Entries {
		if e.Inbox() == "" {
			continue
		}
		m, err := a.cfg.Turns.Message(ctx, e.Inbox())
		switch {
		case err != nil:
			return t, false, err
		case tag(m.Inbound) == id[len(id)-tagLetters:]:
			begin = i
		case begin >= 0:
			return before(t, i), false, nil
		}
	}
	if begin >= 0 {
		asked := func(e chela.Entry) bool {
			return slices.ContainsFunc(t.Approvals, func(p chela.Approval) bool { return p.Call == e.Result().Call })
		}
		if i := slices.IndexFunc(t.Entries[begin:], asked); i >= 0 {
			return before(t, begin+i), false, nil
		}
	}
	if begin < 0 && len(t.Approvals) == 0 {
		return t, false, missing(id)
	}
	return t, true, nil
}

// before returns a turn up to an entry, as if it had ended there.
func before(t api.Trace, end int) api.Trace {
	t.Entries = t.Entries[:end]
	t.Turn.State, t.Turn.Failure = chela.TurnCompleted, nil
	return t
}

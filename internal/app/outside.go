package app

import (
	"context"
	"slices"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/ingress"
	"chela/internal/engine/session"
	"chela/internal/engine/turn"
	"chela/internal/platform/datadir"
	"chela/internal/store"
	"chela/internal/surface/gateway"
	"chela/internal/tool/web"
)

// outside is the gateway's view of an app.
type outside struct {
	*App
	*ingress.Ingress
}

func (a *App) outside() *outside { return &outside{App: a, Ingress: a.ingress} }

// home returns the services that the gateway exposes.
func (a *App) home() gateway.Home {
	s := a.outside()
	scopes := session.Scopes{DM: a.cfg.Session.DMScope, Links: a.cfg.Session.IdentityLinks}
	return gateway.Home{
		Place:        scopes.Place,
		Conversation: s, Events: a.stream, Transcripts: a.sessions, Turns: s, Models: a.models, Responses: s,
		Tokens: a.tokens, Logins: a.tokens, Requests: a.tokens,
		Attach: a.blobs.Attach, Kept: a.blobs.Kept, Ready: s.ready,
		Operations: a.operations(), Hook: a.background.Routines().Hook, Logs: s.logs, Agents: a.cfg.AgentNames, Answering: s.answering, Image: a.image,
	}
}

// Ask commits a message and follows the turn that takes it. Only the id of the
// turn is returned; its text is read separately.
func (s *outside) Ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.Turn, error) {
	id, err := s.Say(ctx, in, show)
	return chela.Turn{ID: id}, err
}

// image fetches an image from the hosts that the tool http may reach.
func (a *App) image(ctx context.Context, address string) (mediaType string, content []byte, err error) {
	fetch, err := web.Images(web.Config{Allow: a.cfg.Tools.HTTPAllow})
	if err != nil {
		return "", nil, err
	}
	return fetch(ctx, address)
}

// answering returns the candidates for a message, the first choice first.
func (s *outside) answering(ctx context.Context, in chela.Inbound) ([]string, error) {
	session, err := s.sessions.Session(ctx, in.Session)
	if chela.KindOf(err) == chela.NotFound {
		session.Session, err = chela.Session{Key: in.Session, Agent: in.Agent}, nil
	}
	return s.cfg.ModelsOf(session.Agent, s.agents.Model(session.Session, in)), err
}

// Outcome returns a turn with its answer so far and its pending approvals.
func (s *outside) Outcome(ctx context.Context, id chela.TurnID) (api.Turn, error) {
	return store.Find(ctx, s.store, func(r *store.Read) (api.Turn, error) {
		t, err := s.turn(ctx, r, id)
		if err != nil {
			return api.Turn{}, err
		}
		out := api.Turn{Turn: t}
		if out.Answer, err = answer(ctx, r, t); err != nil {
			return out, err
		}
		if t.State != chela.TurnAwaiting {
			return out, nil
		}
		out.Approvals, err = r.TurnApprovals(ctx, id)
		out.Approvals = slices.DeleteFunc(out.Approvals, func(a chela.Approval) bool { return a.State != chela.ApprovalPending })
		return out, err
	})
}

// answer returns the last text of the model in a turn, or the result of the
// command that it executed.
func answer(ctx context.Context, r *store.Read, t chela.Turn) (string, error) {
	said, ok, err := r.Answer(ctx, t)
	if err != nil || ok {
		return said.Body.Text, err
	}
	entries, err := r.TurnEntries(ctx, t.ID)
	text, _ := turn.Reply(t, entries)
	return text, err
}

// Said returns the output of a turn so far.
func (s *outside) Said(ctx context.Context, id chela.TurnID) (api.Trace, error) {
	return store.Find(ctx, s.store, func(r *store.Read) (api.Trace, error) { return said(ctx, r, id) })
}

func said(ctx context.Context, r *store.Read, id chela.TurnID) (tr api.Trace, err error) {
	if tr.Turn, err = r.Turn(ctx, id); err != nil {
		return tr, err
	}
	tr.Entries, err = r.TurnEntries(ctx, id)
	if err != nil || tr.Turn.State == chela.TurnCompleted && tr.Turn.Steps == 1 {
		return tr, err // its one answer had no calls
	}
	if tr.Calls, err = r.Calls(ctx, id); err != nil || len(tr.Calls) == 0 {
		return tr, err
	}
	tr.Approvals, err = r.TurnApprovals(ctx, id)
	return tr, err
}

// Trace returns the journal of a turn.
func (s *outside) Trace(ctx context.Context, id chela.TurnID) (api.Trace, error) {
	return store.Find(ctx, s.store, func(r *store.Read) (api.Trace, error) {
		tr, err := said(ctx, r, id)
		if err == nil {
			tr.Usage, err = r.TurnUsage(ctx, tr.Turn)
		}
		return tr, err
	})
}

// Message returns a message that was accepted.
func (s *outside) Message(ctx context.Context, id chela.InboxID) (chela.Waiting, error) {
	return store.Find(ctx, s.store, func(r *store.Read) (chela.Waiting, error) { return r.Message(ctx, id) })
}

// ResponseDeleted reports whether a client deleted a response of /v1.
func (s *outside) ResponseDeleted(ctx context.Context, id string) (bool, error) {
	return store.Find(ctx, s.store, func(r *store.Read) (bool, error) { return r.ResponseDeleted(ctx, id) })
}

// DeleteResponse deletes a response of a turn. A response deleted before is
// NotFound.
func (s *outside) DeleteResponse(ctx context.Context, id string, turn chela.TurnID) error {
	return s.store.Write(ctx, "response.delete", func(w *store.Write) error {
		first, err := w.DeleteResponse(ctx, id, turn, s.now())
		if err == nil && !first {
			err = chela.E(chela.NotFound, "the response was deleted before")
		}
		return err
	})
}

// Called returns a tool call.
func (s *outside) Called(ctx context.Context, id chela.CallID) (chela.ToolCall, error) {
	return store.Find(ctx, s.store, func(r *store.Read) (chela.ToolCall, error) { return r.Call(ctx, id) })
}

// ready returns nil when messages are accepted.
func (s *outside) ready(ctx context.Context) error {
	if !s.stays() {
		return chela.E(chela.Unavailable, "chela is starting")
	}
	return s.probe.check(ctx)
}

// Turn returns one turn.
func (s *outside) Turn(ctx context.Context, id chela.TurnID) (chela.Turn, error) {
	return s.turnNow(ctx, id)
}

func (a *App) turnNow(ctx context.Context, id chela.TurnID) (chela.Turn, error) {
	return store.Find(ctx, a.store, func(r *store.Read) (chela.Turn, error) { return a.turn(ctx, r, id) })
}

// turn returns a turn and its current activity.
func (a *App) turn(ctx context.Context, r *store.Read, id chela.TurnID) (chela.Turn, error) {
	t, err := r.Turn(ctx, id)
	if err != nil || t.State != chela.TurnProcessing {
		t.Activity = a.doing.Of(t, false)
		return t, err
	}
	l, err := r.Lane(ctx, t.Session)
	t.Activity = a.doing.Of(t, l.Owner != "" && l.Turn == id)
	return t, err
}

// logs passes lines of the home's log to show.
func (s *outside) logs(ctx context.Context, follow bool, show func(line string)) error {
	return datadir.ReadLog(ctx, s.cfg.Home.Log(), follow, show)
}

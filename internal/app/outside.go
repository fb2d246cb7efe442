package app

import (
	"context"
	"slices"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/gateway"
	"chela/internal/gateway/documents"
	"chela/internal/session"
	"chela/internal/store"
	"chela/internal/turn"
)

// outside is an app as the gateway sees it: what the commands see, and more.
type outside struct{ *backend }

// home returns what the gateway serves.
func (a *App) home() gateway.Home {
	b := a.backend()
	s := &outside{backend: b}
	scopes := session.Scopes{DM: a.cfg.Session.DMScope, Links: a.cfg.Session.IdentityLinks}
	return gateway.Home{
		Place:        scopes.Place,
		Conversation: s, Events: a.stream, Sessions: s, Keeper: a.keeper, Transcripts: a.keeper, Threads: s, Turns: s, Approvals: b, Grants: b, Tools: b, Models: a.models,
		Tokens: a.tokens, Logins: a.tokens, Memory: documents.Home{Documents: a.memory, Edit: a.memory.Edit},
		Attach: a.blobs.Attach, Kept: a.blobs.Kept, Usage: a.spendingRoutes(), Notices: a.noticeRoutes(), Status: a.status, Ready: s.ready,
		Rewinds: rewindRoutes(a.rewinds), Jobs: a.jobRoutes(), Routines: a.background.RoutineRoutes(), Prompt: a.promptSize, Settings: s.settings, Configure: s.configure, Logs: b.logs, Agents: a.cfg.AgentNames,
	}
}

// Ask commits a message and follows the turn that takes it. Of the turn only its
// id is told: whoever wants more reads what was said.
func (s *outside) Ask(ctx context.Context, in chela.Inbound, show func(chela.Event)) (chela.Turn, error) {
	id, err := s.Say(ctx, in, show)
	return chela.Turn{ID: id}, err
}

// Accept commits a message; its turn begins by itself.
func (s *outside) Accept(ctx context.Context, in chela.Inbound) (api.Receipt, error) {
	r, err := s.Door.Accept(ctx, in)
	return api.Receipt{
		Session: r.Session, Thread: r.Thread, Turn: r.Turn, Inbox: r.Inbox, Duplicate: r.Duplicate, Dropped: r.Dropped,
		Reply: r.Reply,
	}, err
}

// Sessions returns up to limit sessions whose keys come after the given one.
func (s *outside) Sessions(ctx context.Context, after chela.SessionKey, limit int, archived bool) ([]chela.Session, error) {
	var found []chela.Session
	err := s.store.Read(ctx, func(r *store.Read) error {
		for len(found) < limit {
			page, err := r.Sessions(ctx, after, limit)
			if err != nil {
				return err
			}
			for _, session := range page {
				after = session.Key
				if (archived || session.Settings.ArchivedAt.IsZero()) && len(found) < limit {
					found = append(found, session)
				}
			}
			if len(page) < limit {
				break
			}
		}
		return nil
	})
	return found, err
}

// Entries returns a page of the entries of a thread, on every branch.
func (s *outside) Entries(ctx context.Context, id chela.ThreadID, after int64, limit int) ([]chela.Entry, error) {
	return store.Find(ctx, s.store, func(r *store.Read) ([]chela.Entry, error) {
		if _, err := r.Thread(ctx, id); err != nil {
			return nil, err
		}
		return r.Entries(ctx, id, after, limit)
	})
}

// Outcome returns a turn with its answer so far and the approvals that wait.
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

// answer returns what the model said last in a turn, or what came of the command
// that it carried out.
func answer(ctx context.Context, r *store.Read, t chela.Turn) (string, error) {
	said, ok, err := r.Answer(ctx, t)
	if err != nil || ok {
		return said.Body.Text, err
	}
	entries, err := r.TurnEntries(ctx, t.ID)
	text, _ := turn.Reply(t, entries)
	return text, err
}

// Said returns what a turn came to so far.
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

// Trace returns all that the journal holds of a turn.
func (s *outside) Trace(ctx context.Context, id chela.TurnID) (api.Trace, error) {
	return store.Find(ctx, s.store, func(r *store.Read) (api.Trace, error) {
		tr, err := said(ctx, r, id)
		if err == nil {
			tr.Usage, err = r.TurnUsage(ctx, tr.Turn)
		}
		return tr, err
	})
}

// Called returns a tool call.
func (s *outside) Called(ctx context.Context, id chela.CallID) (chela.ToolCall, error) {
	return store.Find(ctx, s.store, func(r *store.Read) (chela.ToolCall, error) { return r.Call(ctx, id) })
}

// ready returns nil when messages are taken.
func (s *outside) ready(ctx context.Context) error {
	if !s.stays() {
		return chela.E(chela.Unavailable, "chela is starting")
	}
	return s.store.Read(ctx, func(r *store.Read) error {
		_, err := r.FreeLanes(ctx, 1)
		return err
	})
}

// settings returns every setting and where it came from.
func (s *outside) settings(context.Context) ([]api.Setting, error) {
	var all []api.Setting
	for _, v := range s.cfg.Values() {
		all = append(all, api.Setting(v))
	}
	return all, nil
}

// configure sets one value in config.toml, if the whole is still valid then.
func (s *outside) configure(_ context.Context, key, value string) error {
	return config.Set(s.cfg.Home, key, value)
}

package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/app/background"
	"chela/internal/app/conversation"
	"chela/internal/approval"
	"chela/internal/cli"
	"chela/internal/cli/documents"
	"chela/internal/cli/models"
	"chela/internal/cli/rewinds"
	"chela/internal/cli/usage"
	"chela/internal/client"
	"chela/internal/config"
	"chela/internal/logfile"
	"chela/internal/store"
)

// Backend opens a home for the commands: through its daemon if one runs, else
// in this process, where turns run until the backend is closed.
func Backend(ctx context.Context, cfg *config.Config, log *slog.Logger, version string) (*cli.Backend, error) {
	c, err := client.Dial(ctx, cfg.Home.Socket(), chela.NewIDs(time.Now, rand.Reader))
	switch {
	case err == nil:
		b := &cli.Backend{
			Conversation: c, Sessions: c, Threads: c, Turns: c, Approvals: c, Grants: c, Tools: c, Models: models.Home{Models: c.Models, Try: c.Try},
			Keeper: c, Transcripts: c, Tokens: c, Usage: usage.Home{Sums: c.UsageSums, Budgets: c.Budgets, OfTurn: c.TurnUsage}, Listen: c.Listen, Notices: c.Notices, SeenNotices: c.SeenNotices, Logs: c.Logs, Attach: c.Attach, Status: c.Status, Prompt: c.Prompt,
			Rewinds: rewinds.Home{Rewind: c.Rewind, Checkpoint: c.Checkpoint, Branch: c.Branch, Places: c.Places, Session: c.Session}, Routines: background.RoutinesThrough(c),
			Memory: documents.Home{Documents: c.Documents(), Edit: c.Documents().Edit},
			Jobs:   jobsThrough(c),
			Seed:   func(context.Context, string) (bool, error) { return false, nil }, // the daemon did when it began
			Resume: func(context.Context) {},                                          // the daemon does
			Close:  c.Close,
		}
		return b, differ(ctx, b, c, cfg)
	case chela.KindOf(err) != chela.NotFound:
		return nil, err
	}
	return open(ctx, cfg, log, version)
}

// open opens a home in this process.
func open(ctx context.Context, cfg *config.Config, log *slog.Logger, version string) (*cli.Backend, error) {
	a, err := Open(ctx, cfg, log, version)
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx)) // ended by Close
	ended := make(chan error, 1)
	go func() { ended <- a.Run(running) }() // Close waits for it
	b := a.backend()
	return &cli.Backend{
		Conversation: b, Sessions: b, Threads: b, Turns: b, Approvals: b, Grants: b, Tools: b, Models: models.Home{Models: a.models.Models, Try: a.models.Try},
		Keeper: a.keeper, Transcripts: a.keeper, Tokens: a.tokens, Usage: b.spending(), Listen: a.door.Listen, Notices: a.pendingNotices, SeenNotices: a.seenNotices, Logs: b.logs, Attach: a.blobs.Attach,
		Status: a.status, Prompt: a.promptSize,
		Memory: documents.Home{Documents: a.memory, Edit: b.edit}, Seed: a.memory.Seed,
		Jobs:     a.jobsHere(),
		Routines: a.background.RoutineCommands(),
		Rewinds: rewinds.Home{
			Rewind: a.rewinds.Rewind, Checkpoint: a.rewinds.Checkpoint, Branch: a.rewinds.Branch, Places: a.rewinds.Places, Session: b.Session,
		},
		Resume: a.Stay,
		Close: func() error {
			if !a.stays() {
				a.settle(ctx)
			}
			cancel()
			return cmp.Or(<-ended, a.Close())
		},
	}, nil
}

// backend is an app as the commands see it.
type backend struct {
	*App
	*conversation.Door // nil before it is there, which who asks for tools does not need
}

func (a *App) backend() *backend { return &backend{App: a, Door: a.door} }

// Sessions returns all sessions, the last used first.
func (b *backend) Sessions(ctx context.Context) ([]chela.Session, error) {
	var sessions []chela.Session
	err := b.store.Read(ctx, func(r *store.Read) error {
		var after chela.SessionKey
		for {
			page, err := r.Sessions(ctx, after, 1000)
			sessions = append(sessions, page...)
			if err != nil || len(page) < 1000 {
				return err
			}
			after = page[len(page)-1].Key
		}
	})
	slices.SortStableFunc(sessions, func(a, b chela.Session) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return sessions, err
}

// Session returns one session with what was spent in it.
func (b *backend) Session(ctx context.Context, key chela.SessionKey) (api.Session, error) {
	if _, err := chela.ParseSessionKey(key); err != nil {
		return api.Session{}, err
	}
	return store.Find(ctx, b.store, func(r *store.Read) (s api.Session, err error) {
		if s.Session, err = r.Session(ctx, key); err != nil {
			return s, err
		}
		sum, err := r.UsageSince(ctx, key, time.Time{})
		s.Usage, s.Cost = sum.Tokens, sum.Cost
		return s, err
	})
}

// Threads returns the threads of a session, the last used first.
func (b *backend) Threads(ctx context.Context, key chela.SessionKey) ([]chela.Thread, error) {
	threads, err := store.Find(ctx, b.store, func(r *store.Read) ([]chela.Thread, error) {
		if _, err := r.Session(ctx, key); err != nil {
			return nil, err
		}
		return r.Threads(ctx, key)
	})
	slices.SortStableFunc(threads, func(a, b chela.Thread) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return threads, err
}

// Thread returns one thread.
func (b *backend) Thread(ctx context.Context, id chela.ThreadID) (chela.Thread, error) {
	return store.Find(ctx, b.store, func(r *store.Read) (chela.Thread, error) { return r.Thread(ctx, id) })
}

// Path returns the entries of a thread from the root to the head.
func (b *backend) Path(ctx context.Context, id chela.ThreadID) ([]chela.Entry, error) {
	return store.Find(ctx, b.store, func(r *store.Read) ([]chela.Entry, error) {
		t, err := r.Thread(ctx, id)
		if err != nil {
			return nil, err
		}
		return r.Path(ctx, t.Head)
	})
}

// Turn returns one turn.
func (b *backend) Turn(ctx context.Context, id chela.TurnID) (chela.Turn, error) {
	return b.turnNow(ctx, id)
}

func (a *App) turnNow(ctx context.Context, id chela.TurnID) (chela.Turn, error) {
	return store.Find(ctx, a.store, func(r *store.Read) (chela.Turn, error) { return a.turn(ctx, r, id) })
}

// turn returns a turn and what it does.
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

// Transcript returns the entries and calls of a turn.
func (b *backend) Transcript(ctx context.Context, id chela.TurnID) (entries []chela.Entry, calls []chela.ToolCall, err error) {
	err = b.store.Read(ctx, func(r *store.Read) error {
		t, err := r.Turn(ctx, id)
		if err != nil {
			return err
		}
		if entries, err = r.TurnEntries(ctx, t.ID); err != nil {
			return err
		}
		calls, err = r.Calls(ctx, id)
		return err
	})
	return entries, calls, err
}

// Approvals returns the approvals in a state, or all, oldest first.
func (b *backend) Approvals(ctx context.Context, state chela.ApprovalState) ([]chela.Approval, error) {
	if state == chela.ApprovalPending {
		return store.Find(ctx, b.store, func(r *store.Read) ([]chela.Approval, error) { return r.PendingApprovals(ctx, "") })
	}
	all, err := store.Find(ctx, b.store, func(r *store.Read) ([]chela.Approval, error) { return r.Approvals(ctx, 1000) })
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(a chela.Approval) bool { return state != "" && a.State != state }), err
}

// Approval returns one approval.
func (b *backend) Approval(ctx context.Context, id chela.ApprovalID) (chela.Approval, error) {
	return store.Find(ctx, b.store, func(r *store.Read) (chela.Approval, error) { return r.Approval(ctx, id) })
}

// Answer answers an approval; the turn goes on by itself.
func (b *backend) Answer(ctx context.Context, r approval.Reply) (chela.Approval, error) {
	return b.desk.Answer(ctx, r)
}

// Grants returns all standing answers, oldest first.
func (b *backend) Grants(ctx context.Context) ([]chela.Grant, error) {
	return store.Find(ctx, b.store, func(r *store.Read) ([]chela.Grant, error) { return r.Grants(ctx, "", "") })
}

// Revoke removes a standing answer.
func (b *backend) Revoke(ctx context.Context, id chela.GrantID) error {
	return b.store.Write(ctx, "grant.revoke", func(w *store.Write) error { return w.RevokeGrant(ctx, id) })
}

// Tools returns the tools of an agent, sorted by name.
func (b *backend) Tools(_ context.Context, agent string) ([]chela.Tool, error) {
	box, err := b.agents.Toolbox(agent)
	if err != nil {
		return nil, err
	}
	tools := box.All()
	slices.SortFunc(tools, func(a, b chela.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools, nil
}

// Call runs a tool by hand.
func (b *backend) Call(ctx context.Context, agent, name string, args json.RawMessage) (chela.ToolResult, error) {
	box, err := b.agents.Toolbox(agent)
	if err != nil {
		return chela.ToolResult{}, err
	}
	checked, err := box.Check(name, args)
	if err != nil {
		return chela.ToolResult{}, err
	}
	t, _ := box.Get(name) // Check found it
	call := chela.ToolCall{
		ID: b.ids.Call(), Session: chela.MainKey(agent), Agent: agent, Tool: name, Args: checked, State: chela.CallRunning,
	}
	j := chela.Judgement{Effect: chela.EffectRead}
	if t.Judge != nil {
		j = t.Judge(checked)
	}
	ruling, err := b.agents.Rule(ctx, chela.Turn{Session: call.Session, Overrides: chela.Overrides{Elevated: "ask"}}, call, j)
	if err != nil {
		return chela.ToolResult{}, err
	}
	if ruling.Verdict == chela.Deny {
		return chela.ToolResult{}, chela.E(chela.Denied, ruling.Reason).WithHint("change the [[policy]] rules in config.toml")
	}
	if t.Prepare != nil {
		prepared, err := t.Prepare(ctx, call)
		if err != nil {
			return chela.ToolResult{}, err
		}
		call.Intent, call.Changes = prepared.Intent, prepared.Changes
	}
	return t.Run(ctx, call)
}

// edit makes an edit in the name of whoever types it. What it returns has no
// text.
func (b *backend) edit(ctx context.Context, e chela.DocumentEdit) (chela.Document, error) {
	e.Key, e.Author = string(b.ids.Request()), chela.Author{By: api.SocketAgent}
	d, err := b.memory.Edit(ctx, e)
	d.Text = ""
	return d, err
}

// logs hands lines of the home's log to show.
func (b *backend) logs(ctx context.Context, follow bool, show func(line string)) error {
	return logfile.Read(ctx, b.cfg.Home.Log(), follow, show)
}

// status counts what is in the home.
func (a *App) status(ctx context.Context) (chela.Status, error) {
	c, err := store.Find(ctx, a.store, func(r *store.Read) (store.Counts, error) { return r.Counts(ctx) })
	s := chela.Status{
		Home: string(a.cfg.Home), Database: a.store.Engine(), Model: a.cfg.Model, Sandbox: string(a.cfg.Sandbox.Mode), Sessions: c.Sessions, TurnsOpen: c.TurnsLive,
		ApprovalsPending: c.ApprovalsPending, InboxWaiting: c.InboxWaiting, OutboxPending: c.OutboxPending,
		Daemon: a.listen != "", Listen: a.listen, Version: a.version,
	}
	if err == nil {
		err = a.background.Status(ctx, &s)
	}
	return s, err
}

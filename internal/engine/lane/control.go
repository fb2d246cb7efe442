package lane

import (
	"context"
	"errors"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/session"
	"chela/internal/store"
)

// A Command is the transactional part of a command. It runs with the session's
// lane locked and must save its own changes of the session. An order that makes
// a fresh thread the current one ends the previous conversation.
type Command func(w *store.Write, at *store.Arrival) (Outcome, error)

// An Outcome is the result of an order.
type Outcome struct {
	Reply  string
	Events []chela.Event             // to announce
	Then   func(ctx context.Context) // runs after the commit; may be nil
}

// errKnown rolls back the order of a repeated delivery.
var errKnown = errors.New("the delivery is known")

// Control executes a command and stores its message with the reply, in one
// transaction. It neither waits for a turn nor starts one; a missing session is
// created. A repeated delivery changes nothing and returns the receipt with the
// first reply. An error changes nothing. Followers of the session receive the
// reply as an event.
func (l *Lanes) Control(ctx context.Context, in chela.Inbound, do Command) (api.Receipt, error) {
	if err := CheckInbound(in); err != nil {
		return api.Receipt{}, err
	}
	var r api.Receipt
	var done Outcome
	var ended chela.ThreadID
	err := l.store.Tell(ctx, "command", l.cfg.Emit, func(w *store.Write) error {
		at, err := l.opener.Place(ctx, w, in)
		if err != nil {
			return err
		}
		m := chela.InboxMessage{ID: l.cfg.IDs.Inbox(), State: chela.InboxAnswered, Node: l.cfg.Node, CreatedAt: l.cfg.Now(), Inbound: in}
		before := at.Session.Thread
		if done, err = do(w, &at); err != nil {
			return err
		}
		m.Reply = done.Reply
		if ended = ""; at.Session.Thread != before && at.Thread.Head == "" {
			ended = before
		}
		m.Thread = at.Thread.ID
		added, err := w.AddMessage(ctx, m, at.Lane.Arrivals)
		if err != nil {
			return err
		}
		if !added {
			return errKnown
		}
		r = receiptOf(m)
		return w.Announce(ctx, m.CreatedAt, done.Events)
	})
	switch {
	case errors.Is(err, errKnown):
		again, _, err := l.Known(ctx, in)
		return again, err
	case err != nil:
		return api.Receipt{}, err
	}
	if done.Then != nil {
		done.Then(ctx)
	}
	if ended != "" {
		l.cfg.Ended(session.End{Session: r.Session, Thread: ended, Reason: session.Asked})
	}
	l.cfg.Emit(chela.Event{Kind: chela.EventReply, Session: r.Session, Thread: r.Thread, Text: r.Reply, At: l.cfg.Now()})
	return r, nil
}

// Known returns the receipt of an earlier delivery of the message, and whether
// there was one.
func (l *Lanes) Known(ctx context.Context, in chela.Inbound) (r api.Receipt, ok bool, err error) {
	r, err = store.Find(ctx, l.store, func(read *store.Read) (api.Receipt, error) { return known(ctx, read, in) })
	if chela.KindOf(err) == chela.NotFound {
		return api.Receipt{}, false, nil
	}
	return r, err == nil, err
}

package lane

import (
	"context"
	"errors"

	"chela"
	"chela/internal/inbox"
	"chela/internal/session"
	"chela/internal/store"
)

// An Order is what a command does in the transaction that stores it. It finds
// the session with its lane locked. A change of the session it must save itself.
// One that makes a fresh thread the current one ends the conversation before.
type Order func(w *store.Write, at *store.Arrival) (Outcome, error)

// An Outcome is what an order came to.
type Outcome struct {
	Reply  string
	Events []chela.Event             // to announce
	Then   func(ctx context.Context) // what follows once it is committed; may be nil
}

// errKnown undoes what the order of a delivery did that is known already.
var errKnown = errors.New("the delivery is known")

// Control carries a command out and stores its message with the reply, in one
// transaction. It waits for no turn and begins none; a session that does not
// exist is made. A delivery that was accepted before changes nothing, and its
// receipt has the reply of the first time. After an error nothing is changed. The
// reply is told to whoever follows the session, too.
func (l *Lanes) Control(ctx context.Context, in chela.Inbound, do Order) (Receipt, error) {
	if err := inbox.Check(in); err != nil {
		return Receipt{}, err
	}
	var r Receipt
	var done Outcome
	var ended chela.ThreadID
	err := l.store.Write(ctx, "command", func(w *store.Write) error {
		at, err := l.opener.Place(ctx, w, in)
		if err != nil {
			return err
		}
		m := chela.Waiting{ID: l.cfg.IDs.Inbox(), State: chela.InboxAnswered, Node: l.cfg.Node, CreatedAt: l.cfg.Now(), Inbound: in}
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
		r = Receipt{Inbox: m.ID, Session: m.Session, Thread: m.Thread, Reply: m.Reply}
		return w.Announce(ctx, m.CreatedAt, done.Events)
	})
	switch {
	case errors.Is(err, errKnown):
		again, _, err := l.Known(ctx, in)
		return again, err
	case err != nil:
		return Receipt{}, err
	}
	l.tell(done.Events)
	if done.Then != nil {
		done.Then(ctx)
	}
	if ended != "" {
		l.cfg.Ended(session.End{Session: r.Session, Thread: ended, Reason: session.Asked})
	}
	l.cfg.Emit(chela.Event{Kind: chela.EventReply, Session: r.Session, Thread: r.Thread, Text: r.Reply, At: l.cfg.Now()})
	return r, nil
}

// Known returns the receipt of a delivery that was accepted before, and whether
// it was.
func (l *Lanes) Known(ctx context.Context, in chela.Inbound) (r Receipt, ok bool, err error) {
	err = l.store.Read(ctx, func(read *store.Read) error {
		r, err = known(ctx, read, in)
		return err
	})
	if chela.KindOf(err) == chela.NotFound {
		return Receipt{}, false, nil
	}
	return r, err == nil, err
}

package lane

import (
	"context"

	"chela"
	"chela/internal/store"
)

// wait completes the transaction of a message that starts no turn: it applies
// the queue's cap and stops the turns that an interrupting message asks for.
func (l *Lanes) wait(ctx context.Context, w *store.Write, at store.Arrival, a arrival) (arrival, error) {
	m := a.message
	m.Queue = l.cfg.Queue.For(m.Inbound, at.Session.Settings)
	var err error
	if a.events, err = l.opener.MakeRoom(ctx, w, at, m.Queue.Cap); err != nil {
		return a, err
	}
	if a.stopped, err = l.opener.Interrupt(ctx, w, at.Lane, m); err != nil || a.ended == nil {
		return a, err
	}
	anew := []chela.Event{{Kind: chela.EventSessionChanged, Session: m.Session, Thread: m.Thread}}
	err = w.Announce(ctx, l.cfg.Now(), anew)
	a.events = append(a.events, anew...)
	return a, err
}

package lane

import (
	"context"

	"chela"
	"chela/internal/session"
	"chela/internal/store"
)

// anew returns why a message does not go on with the current thread of its
// session, or "" if it does. Only a conversation that rests can begin anew: what
// runs, waits for a person or has messages waiting goes on.
func (l *Lanes) anew(in chela.Inbound, at store.Arrival) session.Reason {
	rests := at.Thread.State == chela.ThreadIdle || at.Thread.State == chela.ThreadInterrupted
	if in.Thread != "" || len(in.Results) > 0 || !rests || at.Waits || at.Thread.Seq == 0 {
		return ""
	}
	last := at.Thread.UpdatedAt
	if at.Session.UpdatedAt.After(last) { // somebody came back to the thread
		last = at.Session.UpdatedAt
	}
	return l.cfg.Resets.Why(at.Session.Key, last, l.cfg.Now())
}

// newThread returns a thread that nothing was said in.
func (l *Lanes) newThread(key chela.SessionKey) chela.Thread {
	now := l.cfg.Now()
	return chela.Thread{ID: l.cfg.IDs.Thread(), Session: key, State: chela.ThreadIdle, CreatedAt: now, UpdatedAt: now}
}

// beginAnew makes a fresh thread the current one of a session. The old one stays
// readable.
func (l *Lanes) beginAnew(ctx context.Context, w *store.Write, s *chela.Session, t chela.Thread) error {
	if err := w.CreateThread(ctx, t); err != nil {
		return err
	}
	s.SwitchTo(t.ID)
	s.UpdatedAt = t.CreatedAt
	return w.SaveSession(ctx, *s)
}

package lane

import (
	"context"

	"chela"
	"chela/internal/store"
)

// Place returns the lane, session and thread of a message, creating them for
// the first message of a session.
func (op *Opener) Place(ctx context.Context, w *store.Write, in chela.Inbound) (store.Arrival, error) {
	at, ok, err := w.ArriveAt(ctx, in.Session)
	if err == nil && !ok {
		if err = op.create(ctx, w, in); err == nil {
			at, _, err = w.ArriveAt(ctx, in.Session)
		}
	}
	if err != nil || in.Thread == "" {
		return at, err
	}
	at.Thread, err = w.Thread(ctx, in.Thread)
	if err == nil && at.Thread.Session != in.Session {
		err = chela.Ef(chela.Invalid, "thread %s belongs to another session", at.Thread.ID).
			WithHint("leave out --session, or use the thread's own")
	}
	return at, err
}

func (op *Opener) create(ctx context.Context, w *store.Write, in chela.Inbound) error {
	key, err := chela.ParseSessionKey(in.Session)
	if err != nil {
		return err
	}
	t := op.NewThread(in.Session)
	s := chela.Session{Key: in.Session, Agent: in.Agent, Thread: t.ID, CreatedAt: t.CreatedAt, UpdatedAt: t.CreatedAt}
	s.Settings.Last = in.Origin
	if err := w.CreateSession(ctx, s, key.Class()); err != nil {
		return err
	}
	if made, err := w.Session(ctx, s.Key); err != nil || made.Thread != s.Thread {
		return err // another process created the session concurrently
	}
	return w.CreateThread(ctx, t)
}

// NewThread returns a new empty thread.
func (op *Opener) NewThread(key chela.SessionKey) chela.Thread {
	now := op.Now()
	return chela.Thread{ID: op.IDs.Thread(), Session: key, State: chela.ThreadIdle, CreatedAt: now, UpdatedAt: now}
}

// BeginAnew makes a fresh thread the current one of a session. The old one
// stays readable.
func (op *Opener) BeginAnew(ctx context.Context, w *store.Write, s *chela.Session, t chela.Thread) error {
	if err := w.CreateThread(ctx, t); err != nil {
		return err
	}
	s.SwitchTo(t.ID)
	s.UpdatedAt = t.CreatedAt
	return w.SaveSession(ctx, *s)
}

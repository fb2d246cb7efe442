package rewind

import (
	"context"
	"errors"

	"chela"
	"chela/internal/platform/fail"
	"chela/internal/store"
)

// carryOut plans a rewind, restores files and documents, and moves the head. A
// pending rewind that cannot be planned is refused, so that the session can
// continue.
func (m *Rewinds) carryOut(ctx context.Context, v chela.Rewind, agent string) (chela.Rewind, error) {
	asked := v.State == chela.RewindAsked
	planned, err := m.plan(ctx, v, agent)
	if err != nil {
		if asked && ctx.Err() == nil {
			err = errors.Join(err, m.refuse(ctx, v))
		}
		return v, err
	}
	// From here on the rewind completes even if its caller is gone.
	return m.complete(context.WithoutCancel(ctx), planned, agent)
}

// plan computes the steps of a rewind, checks that no foreign change would be
// lost, and stores the plan. It is errMoved if the thread has moved or a turn was
// opened in it since.
func (m *Rewinds) plan(ctx context.Context, v chela.Rewind, agent string) (chela.Rewind, error) {
	var t chela.Thread
	var steps []Step
	var gaps []chela.Preimage
	err := m.store.Read(ctx, func(r *store.Read) (err error) {
		if t, err = r.Thread(ctx, v.Thread); err != nil {
			return err
		}
		steps, gaps, err = m.steps(ctx, r, t, &v)
		return err
	})
	if err != nil {
		return v, err
	}
	desk, err := m.open(ctx, v, agent, steps)
	if err != nil {
		return v, err
	}
	defer desk.close()
	if v.Changes, err = desk.look(ctx, steps, gaps); err != nil {
		return v, err
	}
	v.NotUndone = append(v.NotUndone, desk.left...)
	before := v.State
	v.State, v.From, v.Node, v.RenewedAt = chela.RewindPlanned, t.Head, m.cfg.Node, m.now()
	return v, m.store.Write(ctx, "rewind.plan", func(w *store.Write) error {
		now, err := lock(ctx, w, v)
		if err != nil {
			return err
		}
		if now.Head != t.Head || !now.State.CanMove(chela.ThreadRewinding) {
			return errMoved
		}
		after := now
		after.State, after.UpdatedAt = chela.ThreadRewinding, m.now()
		if err := w.MoveThread(ctx, now, after); err != nil {
			return err
		}
		if before != "" {
			return w.MoveRewind(ctx, v, before)
		}
		return w.AddRewind(ctx, v)
	})
}

// steps returns the restore steps of a rewind, and records effects that cannot
// be undone.
func (m *Rewinds) steps(ctx context.Context, r *store.Read, t chela.Thread, v *chela.Rewind) (steps []Step, gaps []chela.Preimage, err error) {
	if v.Kind == chela.RewindRedo {
		back, err := arrival(ctx, r, t)
		if err != nil || back.From != v.To {
			return nil, nil, errors.Join(err, errMoved)
		}
		if !v.KeepFiles {
			steps = reversed(back.Changes)
		}
		return steps, nil, nil
	}
	way, err := wayBetween(ctx, r, t.Head, v.To)
	if err != nil {
		return nil, nil, err
	}
	v.NotUndone = Left(way, v.KeepFiles, m.preview)
	if !v.KeepFiles {
		steps, gaps = Plan(way)
	}
	return steps, gaps, nil
}

// lock locks the lane of a rewind and returns its thread.
func lock(ctx context.Context, w *store.Write, v chela.Rewind) (chela.Thread, error) {
	if _, err := w.LockLane(ctx, v.Session); err != nil {
		return chela.Thread{}, err
	}
	return w.Thread(ctx, v.Thread)
}

// refuse ends a pending rewind without changing anything.
func (m *Rewinds) refuse(ctx context.Context, v chela.Rewind) error {
	v.State, v.DoneAt, v.Changes, v.NotUndone = chela.RewindRefused, m.now(), nil, nil
	err := m.store.Write(ctx, "rewind.refuse", func(w *store.Write) error {
		return w.MoveRewind(ctx, v, chela.RewindAsked)
	})
	m.wake(ctx, v.Session)
	return err
}

// complete restores the changes of a planned rewind and moves the head. It is
// idempotent, also across concurrent processes.
func (m *Rewinds) complete(ctx context.Context, v chela.Rewind, agent string) (chela.Rewind, error) {
	desk, err := m.open(ctx, v, agent, reversed(v.Changes))
	if err != nil {
		return v, err
	}
	defer desk.close()
	if !fail.Mutant("files-left") {
		if err := m.holding(ctx, v, func(ctx context.Context) error { return desk.putBack(ctx, &v) }); err != nil {
			return v, err
		}
	}
	v.State, v.DoneAt = chela.RewindDone, m.now()
	err = m.store.Tell(ctx, "rewind.done", m.cfg.Emit, func(w *store.Write) error {
		t, err := lock(ctx, w, v)
		if err != nil {
			return err
		}
		if err := w.MoveRewind(ctx, v, chela.RewindPlanned); err != nil {
			return err
		}
		after := t
		after.Head, after.State, after.UpdatedAt = v.To, chela.ThreadIdle, v.DoneAt
		if err := w.MoveThread(ctx, t, after); err != nil {
			return err
		}
		return w.Announce(ctx, v.DoneAt, []chela.Event{{Kind: chela.EventSessionChanged, Session: v.Session, Thread: v.Thread}})
	})
	if chela.KindOf(err) == chela.Conflict { // another process completed it first
		return store.Get(ctx, m.store, (*store.Read).Rewind, v.ID)
	}
	if err != nil {
		return v, err
	}
	m.wake(ctx, v.Session)
	return v, nil
}

// wake resumes the lane after a rewind. A failure is logged only; the periodic
// scan finds the lane.
func (m *Rewinds) wake(ctx context.Context, key chela.SessionKey) {
	if err := m.cfg.Lanes.Wake(ctx, key); err != nil && ctx.Err() == nil {
		m.cfg.Log.Warn("lane not taken", "session", key, "error", err)
	}
}

// Finish completes the rewinds of a session left by dead processes or failed
// here; of all sessions if key is empty. A rewind that waits for the end of a
// turn asks that turn to stop and completes after it ended.
func (m *Rewinds) Finish(ctx context.Context, key chela.SessionKey) error {
	open, err := store.Get(ctx, m.store, (*store.Read).OpenRewinds, key)
	for _, v := range open {
		if m.left(v) && m.claim(v.ID) {
			err = errors.Join(err, m.finish(ctx, v))
		}
	}
	return err
}

// finish continues a claimed rewind.
func (m *Rewinds) finish(ctx context.Context, v chela.Rewind) error {
	defer m.letGo(v.ID)
	var s chela.Session
	var live chela.TurnID
	err := m.store.Read(ctx, func(r *store.Read) (err error) {
		if v, err = r.Rewind(ctx, v.ID); err != nil { // reload after the claim
			return err
		}
		t, err := r.Thread(ctx, v.Thread)
		if err != nil {
			return err
		}
		if live, err = liveTurn(ctx, r, t); err != nil {
			return err
		}
		s, err = r.Session(ctx, v.Session)
		return err
	})
	switch {
	case err != nil:
		return err
	case v.State.Ended() || !m.left(v):
		return nil
	}
	if err := m.take(ctx, &v); err != nil {
		if chela.KindOf(err) == chela.Conflict { // the faster process completes it
			return nil
		}
		return err
	}
	switch {
	case v.State == chela.RewindPlanned:
		_, err = m.complete(ctx, v, s.Agent)
		return err
	case live != "":
		if err := m.cfg.Lanes.Stop(ctx, live); err != nil && chela.KindOf(err) != chela.Conflict {
			return err
		}
		return nil
	}
	if _, err := m.carryOut(ctx, v, s.Agent); err != nil {
		m.cfg.Log.Warn("rewind refused", "thread", v.Thread, "error", err)
		return ctx.Err()
	}
	return nil
}

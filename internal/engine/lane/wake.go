package lane

import (
	"context"
	"time"

	"chela"
	"chela/internal/store"
)

// left reports whether a held lane is abandoned and may be taken. A lane held
// but not served by this process, because the result of its commit was lost,
// may be taken after its lease expired.
func (l *Lanes) left(lane store.Lane) bool {
	expired := lane.ExpiresAt.Before(l.cfg.Now())
	if lane.Owner == l.cfg.Node {
		return expired && !l.Serves(lane.Session)
	}
	return expired || l.cfg.Dead(lane.Owner)
}

// Serves reports whether this process runs a turn in a lane, or has one waiting
// for a slot.
func (l *Lanes) Serves(key chela.SessionKey) bool { return l.holding(key) != nil }

// Wake takes a lane if it has work and no live owner.
func (l *Lanes) Wake(ctx context.Context, key chela.SessionKey) error {
	if l.isClosing() {
		return nil
	}
	idle, later, err := l.idle(ctx, key)
	if err == nil && idle {
		err = l.cfg.Rewind(ctx, key)
	}
	var begun *OpenedTurn
	if err == nil && idle {
		err = l.store.Tell(ctx, "lane.take", l.cfg.Emit, func(w *store.Write) error {
			begun = nil
			lane, err := w.LockLane(ctx, key)
			if err != nil || lane.Owner != "" && !l.left(lane) {
				return err
			}
			begun, later, err = l.take(ctx, w, lane)
			return err
		})
	}
	if err != nil {
		return err
	}
	if begun != nil {
		l.begin(begun)
	} else if !later.IsZero() {
		l.alarms.Set(key, later.Sub(l.cfg.Now()))
	}
	return nil
}

// alarmed wakes a lane after its debounce.
func (l *Lanes) alarmed(key chela.SessionKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing {
		l.serving++
		l.turns.Go(func() { // one transaction; Run waits for it
			defer l.served()
			l.wakeLater(context.Background(), key)
		})
	}
}

// idle reports whether a lane has no live owner, and when to look again if it
// is known to have no work before then.
func (l *Lanes) idle(ctx context.Context, key chela.SessionKey) (idle bool, later time.Time, err error) {
	err = l.store.Read(ctx, func(r *store.Read) error {
		lane, err := r.Lane(ctx, key)
		idle = err == nil && (lane.Owner == "" || l.left(lane))
		if !idle || lane.Owner != "" || !l.alarms.IsSet(key) {
			return err
		}
		session, err := r.Session(ctx, key)
		if err != nil {
			return err
		}
		p, err := l.opener.Look(ctx, r, session)
		idle, later = p.Now(), p.Later
		return err
	})
	return idle, later, err
}

// take is the transaction of a takeover. The lane must be locked. It returns
// nil if there is no work now, and when there will be, if known.
func (l *Lanes) take(ctx context.Context, w *store.Write, lane store.Lane) (*OpenedTurn, time.Time, error) {
	session, err := w.Session(ctx, lane.Session)
	if err != nil {
		return nil, time.Time{}, err
	}
	next, later, err := l.opener.Next(ctx, w, session)
	if err == nil && next == nil && lane.Owner != "" {
		err = w.ReleaseLane(ctx, lane.Lease)
	}
	if err != nil || next == nil {
		return nil, later, err
	}
	next.Lease, next.Class = l.lease(lane), lane.Class
	next.Left = lane.Owner != "" && next.Turn.ID == lane.Turn && next.Entries == nil
	return next, later, w.TakeLane(ctx, lane, next.Lease, next.Turn.ID)
}

// Stop asks a live turn to end, wherever it runs. It is NotFound if the turn
// does not exist and a Conflict if it has ended. A turn that waits for a person
// is ended here.
func (l *Lanes) Stop(ctx context.Context, id chela.TurnID) error {
	var t chela.Turn
	err := l.store.Write(ctx, "turn.stop", func(w *store.Write) error {
		var err error
		if t, err = w.Turn(ctx, id); err != nil {
			return err
		}
		if _, err = w.LockLane(ctx, t.Session); err != nil {
			return err
		}
		if t, err = w.Turn(ctx, id); err != nil { // reload after the lock, which excludes other moves
			return err
		}
		if t.State.Ended() {
			return chela.E(chela.Conflict, "turn "+string(id)+" has ended already").WithHint("chela turns show " + string(id) + " tells how")
		}
		return l.opener.Stop(ctx, w, t)
	})
	if err != nil {
		return err
	}
	l.stopped(ctx, t)
	return nil
}

// StopIn is Stop within the caller's transaction. The caller has locked the
// lane and calls then after the commit.
func (l *Lanes) StopIn(ctx context.Context, w *store.Write, t chela.Turn) (then func(context.Context), err error) {
	return func(ctx context.Context) { l.stopped(ctx, t) }, l.opener.Stop(ctx, w, t)
}

// stopped completes the stop of a turn after the commit.
func (l *Lanes) stopped(ctx context.Context, t chela.Turn) {
	l.stopHere(t.Session, t.ID)
	l.wakeLater(ctx, t.Session)
}

// stopHere interrupts a turn if this process runs it.
func (l *Lanes) stopHere(key chela.SessionKey, id chela.TurnID) {
	if h := l.holding(key); h != nil && h.turn == id {
		h.control.Stop()
	}
}

// CutOff cancels the run of a turn without progress, and reports whether this
// process runs it. The turn is retried; the third cut-off ends it as failed.
func (l *Lanes) CutOff(id chela.TurnID) bool {
	for _, h := range l.holdings() {
		if h.turn == id {
			h.control.CutOff()
			return true
		}
	}
	return false
}

// wakeLater wakes a lane after a commit. A failure is logged only: the work is
// committed, and the periodic scan finds it.
func (l *Lanes) wakeLater(ctx context.Context, key chela.SessionKey) {
	if err := l.Wake(ctx, key); err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("lane not taken", "session", key, "error", err)
	}
}

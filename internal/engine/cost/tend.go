package cost

import (
	"context"
	"errors"
	"slices"
	"time"

	"chela"
	"chela/internal/platform/local"
	"chela/internal/store"
)

const (
	longestCall  = 25 * time.Hour // after this no call of a turn is in flight; the time limit of a turn is a day
	longestAlone = time.Hour      // the same for a call without a turn
	keepBudgets  = 48 * time.Hour // retention of unused budget rows
	tendTime     = 10 * time.Second
	tendsPerKeep = 360
)

// Run tends the ledger periodically until ctx ends.
func (l *Ledger) Run(ctx context.Context) error {
	l.Tend(ctx)
	l.forget(ctx)
	n := 0
	local.Every(ctx, tendTime, func() {
		l.Tend(ctx)
		if n++; n%tendsPerKeep == 0 {
			l.forget(ctx)
		}
	})
	return nil
}

// Tend marks reservations as lost whose calls are no longer in flight:
// reservations of dead processes and of ended turns, and its own that it could
// not settle. It also adds settled rows to the sums of days. Failures are logged and
// retried with the next pass.
func (l *Ledger) Tend(ctx context.Context) {
	var left []chela.Usage
	err := l.store.Read(ctx, func(r *store.Read) error {
		left = nil
		all, err := r.Reservations(ctx, "")
		if err != nil {
			return err
		}
		dead := map[chela.NodeID]bool{l.cfg.Node: false}
		for _, u := range all {
			if _, known := dead[u.Node]; !known {
				dead[u.Node] = l.cfg.Dead(u.Node)
			}
			over, err := l.over(ctx, r, u)
			if err != nil {
				return err
			}
			if over || dead[u.Node] {
				left = append(left, u)
			}
		}
		return nil
	})
	if err == nil {
		err = l.lose(ctx, left)
	}
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("reservations not checked", "error", err)
	}
	if err := l.sumUp(ctx); err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("usage not summed", "error", err)
	}
}

// over reports whether the call of a reservation, by a node that may be alive,
// is no longer in flight.
func (l *Ledger) over(ctx context.Context, r *store.Read, u chela.Usage) (bool, error) {
	age := l.cfg.Now().Sub(u.CreatedAt)
	switch {
	case u.Turn == "" && u.Node == l.cfg.Node:
		_, open := l.open.Load(u.ID)
		return !open, nil
	case u.Turn == "":
		return age > longestAlone, nil
	case age > longestCall:
		return true, nil
	}
	t, err := r.Turn(ctx, u.Turn)
	return t.State.Ended(), err
}

// lose marks reservations as lost, at their maximum possible cost. Rows settled
// concurrently stay as they are. A failure does not stop the others.
func (l *Ledger) lose(ctx context.Context, rows []chela.Usage) error {
	var failed []error
	for _, u := range rows {
		u.State, u.Guessed = chela.UsageLost, true
		err := l.record(ctx, u)
		switch {
		case err == nil:
			l.logLost(u)
		case chela.KindOf(err) != chela.Conflict:
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// giveUp marks the reservations of a turn as lost: a turn has one run at a
// time, which makes one call at a time, so the run that reserved them is over.
// Only the holder of the turn's lane knows that; other callers get
// store.ErrLaneLost. Rows settled concurrently stay as they are.
func (l *Ledger) giveUp(ctx context.Context, turn chela.TurnID) error {
	var lost []chela.Usage
	err := l.store.Write(ctx, "usage.settle", func(w *store.Write) (err error) {
		if err := l.holds(ctx, w, turn); err != nil {
			return err
		}
		lost, err = w.Reservations(ctx, turn)
		for i := range lost {
			lost[i].State, lost[i].Guessed = chela.UsageLost, true
			if err := w.Settle(ctx, lost[i]); err != nil {
				return err
			}
		}
		return err
	})
	if chela.KindOf(err) == chela.Conflict && !errors.Is(err, store.ErrLaneLost) {
		return nil
	}
	for _, u := range lost {
		if err == nil {
			l.logLost(u)
		}
	}
	return err
}

// holds returns nil if this process holds the lane of a turn and runs the turn,
// which remains true until the transaction ends, and store.ErrLaneLost
// otherwise.
func (l *Ledger) holds(ctx context.Context, w *store.Write, turn chela.TurnID) error {
	t, err := w.Turn(ctx, turn)
	if err != nil {
		return err
	}
	lane, err := w.LockLane(ctx, t.Session)
	if err == nil && (lane.Owner != l.cfg.Node || lane.Turn != turn) {
		err = store.ErrLaneLost
	}
	return err
}

func (l *Ledger) logLost(u chela.Usage) {
	l.cfg.Log.Warn("model call lost", "usage", u.ID, "session", u.Session, "turn", u.Turn, "model", u.Model, "cost", u.Cost)
}

// record stores the end of a call: of its reservation, or if it has none in a new
// row.
func (l *Ledger) record(ctx context.Context, u chela.Usage) error {
	if u.Node == "" {
		return l.store.Write(ctx, "usage.charge", func(w *store.Write) error { return w.Charge(ctx, u) })
	}
	return l.store.Write(ctx, "usage.settle", func(w *store.Write) error { return w.Settle(ctx, u) })
}

func (l *Ledger) forget(ctx context.Context) {
	before := l.cfg.Now().Add(-keepBudgets)
	err := l.store.Write(ctx, "budgets.forget", func(w *store.Write) error { return w.ForgetBudgets(ctx, before) })
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("old budgets not removed", "error", err)
	}
}

// Close marks the remaining reservations of this process as lost. No call may
// be in flight.
func (l *Ledger) Close(ctx context.Context) error {
	rows, err := store.Find(ctx, l.store, func(r *store.Read) ([]chela.Usage, error) { return r.Reservations(ctx, "") })
	if err != nil {
		return err
	}
	return l.lose(ctx, slices.DeleteFunc(rows, func(u chela.Usage) bool { return u.Node != l.cfg.Node }))
}

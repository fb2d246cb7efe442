package cost

import (
	"context"
	"errors"
	"time"

	"chela"
	"chela/internal/store"
)

const (
	longestCall  = 25 * time.Hour // after which no call of a turn is under way, whoever made it; none may take longer than a day
	longestAlone = time.Hour      // the same of a call without a turn
	keepBudgets  = 48 * time.Hour // how long budgets are kept that nobody uses
	tendTime     = 10 * time.Second
	tendsPerKeep = 360
)

// Run tends the ledger now and then until ctx ends.
func (l *Ledger) Run(ctx context.Context) error {
	tick := time.NewTicker(tendTime)
	defer tick.Stop()
	for n := 0; ; n++ {
		l.Tend(ctx)
		if n%tendsPerKeep == 0 {
			l.forget(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Tend marks reservations as lost whose calls are not under way any more: those
// of dead processes, of turns that have ended, and its own that it could not
// settle. What fails is logged: the reservation stays for the next time.
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
		l.cfg.Log.Warn("reservations not looked at", "error", err)
	}
}

// over reports whether the call that something is reserved for, by a node that may
// live, is not under way.
func (l *Ledger) over(ctx context.Context, r *store.Read, u chela.Usage) (bool, error) {
	age := l.cfg.Now().Sub(u.CreatedAt)
	switch {
	case u.Turn == "" && u.Node == l.cfg.Node:
		l.mu.Lock()
		defer l.mu.Unlock()
		return !l.open[u.ID], nil
	case u.Turn == "":
		return age > longestAlone, nil
	case age > longestCall:
		return true, nil
	}
	t, err := r.Turn(ctx, u.Turn)
	return t.State.Ended(), err
}

// lose marks reservations as lost, at the most that they can have cost. What
// somebody else ended meanwhile stays as it is. One that cannot be ended keeps
// none of the others.
func (l *Ledger) lose(ctx context.Context, rows []chela.Usage) error {
	var failed []error
	for _, u := range rows {
		u.State, u.Guessed = chela.UsageLost, true
		err := l.settle(ctx, u)
		switch {
		case err == nil:
			l.logLost(u)
		case chela.KindOf(err) != chela.Conflict:
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// giveUp marks what is reserved for a turn as lost: the run that reserved it is
// over, as a turn has one run at a time, and that asks one model. Only who holds
// the turn's lane knows that; for others it is store.ErrLaneLost. What somebody
// else ended meanwhile stays as it is.
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

// holds returns nil if this process holds the lane of a turn and runs the turn; it
// does until the transaction ends.
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

// settle stores how a reserved call ended.
func (l *Ledger) settle(ctx context.Context, u chela.Usage) error {
	return l.store.Write(ctx, "usage.settle", func(w *store.Write) error { return w.Settle(ctx, u) })
}

// charge adds a row of a call that nothing was reserved for.
func (l *Ledger) charge(ctx context.Context, u chela.Usage) error {
	return l.store.Write(ctx, "usage.charge", func(w *store.Write) error { return w.Charge(ctx, u) })
}

func (l *Ledger) forget(ctx context.Context) {
	before := l.cfg.Now().Add(-keepBudgets)
	err := l.store.Write(ctx, "budgets.forget", func(w *store.Write) error { return w.ForgetBudgets(ctx, before) })
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("old budgets not removed", "error", err)
	}
}

// Close gives up what this process still has reserved. No call may be under way.
func (l *Ledger) Close(ctx context.Context) error {
	rows, err := store.Find(ctx, l.store, func(r *store.Read) ([]chela.Usage, error) { return r.Reservations(ctx, "") })
	if err != nil {
		return err
	}
	var mine []chela.Usage
	for _, u := range rows {
		if u.Node == l.cfg.Node {
			mine = append(mine, u)
		}
	}
	return l.lose(ctx, mine)
}

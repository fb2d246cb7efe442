package cost

import (
	"context"
	"errors"
	"slices"
	"time"

	"chela"
	"chela/internal/store"
)

const (
	maxTries = 4                      // attempts at a reservation without pauses
	pause    = 200 * time.Millisecond // between later attempts, while calls in flight hold reservations
	patience = time.Minute            // after this a call blocked by reservations is refused
)

// reserve adds the row of a call to the ledger and claims its maximum cost from
// its budgets. It returns the affordable output in tokens; 0 if no money limit
// applies. If only calls in flight block it, it waits for them, because most
// calls cost less than their reservation.
func (l *Ledger) reserve(ctx context.Context, u *chela.Usage, budgets []chela.Budget, q ask) (output int, err error) {
	u.State, u.Node, u.Cost = chela.UsageReserved, l.cfg.Node, q.most(q.prompt, q.output)
	if u.Cost == 0 { // money limits do not apply
		budgets = slices.DeleteFunc(budgets, isOfMoney)
	}
	if err := l.count(ctx, budgets, false); err != nil {
		return 0, err
	}
	output, until := q.output, l.cfg.Now().Add(patience)
	for try := 1; ; try++ {
		err := l.claim(ctx, *u, budgets)
		limit := limitOf(err)
		switch {
		case err == nil && slices.ContainsFunc(budgets, isOfMoney):
			if output < q.output {
				l.cfg.Log.Info("answer shortened by a spending limit", "turn", u.Turn, "tokens", output)
			}
			return output, nil
		case err == nil:
			return 0, nil
		case limit != "":
			if output, err = l.makeRoom(ctx, q, budgets, attempt{limit: limit, output: output, n: try, last: !l.cfg.Now().Before(until)}); err != nil {
				return 0, err
			}
			u.Cost = q.most(q.prompt, output)
		case chela.KindOf(err) == chela.Conflict && u.Turn != "" && try < maxTries:
			if err := l.giveUp(ctx, u.Turn); err != nil {
				return 0, err
			}
		default:
			l.release(ctx, *u)
			return 0, err
		}
	}
}

func isOfMoney(b chela.Budget) bool { return b.Limit != chela.LimitActions }

// An attempt is a refused attempt at a reservation.
type attempt struct {
	limit  chela.Limit // the exceeded limit
	output int         // tokens requested
	n      int         // from 1
	last   bool        // patience has run out
}

// makeRoom re-reads the budgets of a call after a refused attempt. It returns
// the affordable output for the next attempt, after a pause if the call must
// wait, or the refusal.
func (l *Ledger) makeRoom(ctx context.Context, q ask, budgets []chela.Budget, a attempt) (output int, err error) {
	now, err := l.look(ctx, budgets)
	if err != nil {
		return 0, err
	}
	output, short := q.fit(now)
	if short != nil && short.Reserved > 0 && a.n == 1 { // the holder may be dead
		l.Tend(ctx)
		if now, err = l.look(ctx, budgets); err != nil {
			return 0, err
		}
		output, short = q.fit(now)
	}
	switch {
	case short != nil && (a.last || short.Spent+q.need(short.Limit, q.least) > short.Most):
		return 0, l.refuse(*short, q)
	case short != nil:
		return a.output, l.cfg.Wait(ctx, pause)
	case a.last: // others claimed the budget each time
		i := slices.IndexFunc(now, func(b chela.Budget) bool { return b.Limit == a.limit })
		return 0, l.refuse(now[i], q)
	case a.n == 1:
		return output, l.count(ctx, budgets, true) // the budget row was outdated
	case a.n >= maxTries:
		return output, l.cfg.Wait(ctx, pause)
	default:
		return output, nil
	}
}

// fit returns the output that fits into all budgets, or the first budget too
// small even for the least output.
func (q ask) fit(budgets []chela.Budget) (output int, short *chela.Budget) {
	output = q.output
	for i, b := range budgets {
		fits := 0
		switch {
		case isOfMoney(b):
			fits = q.affordable(q.prompt, output, chela.MicroUSD(b.Left()))
		case b.Left() > 0:
			fits = output
		}
		if fits < q.least {
			return 0, &budgets[i]
		}
		output = fits
	}
	return output, nil
}

// need returns the amount that a call with this output claims from a budget.
func (q ask) need(limit chela.Limit, output int) int64 {
	if limit == chela.LimitActions {
		return 1
	}
	return int64(q.most(q.prompt, output))
}

// refuse returns the refusal of a call by a budget. An exhausted limit of the
// home is cached.
func (l *Ledger) refuse(b chela.Budget, q ask) error {
	err := refusal(b, q.need(b.Limit, q.least), l.cfg.Zone)
	if b.Spent >= b.Most && b.Key == "" {
		l.spent.Store(&spentUp{until: b.Resets, err: err})
	}
	return err
}

// isSpent returns the cached refusal of an exhausted limit of the home, if it
// applies.
func (l *Ledger) isSpent(free bool) error {
	s := l.spent.Load()
	if s == nil || !l.cfg.Now().Before(s.until) || free && limitOf(s.err) != chela.LimitActions {
		return nil
	}
	return s.err
}

// limitOf returns the limit named by an error, if any.
func limitOf(err error) chela.Limit {
	if e, ok := errors.AsType[*chela.Error](err); ok {
		return e.Limit
	}
	return ""
}

// count recomputes the budgets not yet recomputed by this process, or all of
// them if anew. Budgets of turns are recomputed when they are claimed, as only
// this process spends from them.
func (l *Ledger) count(ctx context.Context, budgets []chela.Budget, anew bool) error {
	l.mu.Lock()
	var uncounted []chela.Budget
	for _, b := range budgets {
		if b.Limit != chela.LimitTurn && (anew || !l.counted[placeOf(b)]) {
			uncounted = append(uncounted, b)
		}
	}
	l.mu.Unlock()
	if len(uncounted) == 0 {
		return nil
	}
	err := l.store.Write(ctx, "budgets.count", func(w *store.Write) error { return w.CountBudgets(ctx, uncounted, l.cfg.Now()) })
	if err == nil {
		l.remember(uncounted)
	}
	return err
}

// remember caches that budgets are recomputed.
func (l *Ledger) remember(budgets []chela.Budget) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.counted) > maxCounted {
		clear(l.counted)
	}
	for _, b := range budgets {
		l.counted[placeOf(b)] = true
	}
}

// claim is the transaction of a reservation.
func (l *Ledger) claim(ctx context.Context, u chela.Usage, budgets []chela.Budget) error {
	claims := make([]store.Claim, 0, len(budgets))
	l.mu.Lock()
	for _, b := range budgets {
		claims = append(claims, store.Claim{
			Budget: b, Warn: (b.Most*warnAt + 99) / 100, Anew: b.Limit == chela.LimitTurn && !l.counted[placeOf(b)],
		})
	}
	l.mu.Unlock()
	var warn []chela.Budget
	err := l.store.Write(ctx, "usage.reserve", func(w *store.Write) error {
		warn = nil
		return w.Reserve(ctx, u, claims, func(c store.Claim) { warn = append(warn, c.Budget) })
	})
	if err != nil {
		return err
	}
	l.remember(budgets)
	for _, b := range warn {
		text := warning(b, l.cfg.Zone)
		l.cfg.Log.Warn("limit almost reached", "limit", b.Limit, "key", b.Key, "spent", b.Spent, "most", b.Most)
		l.cfg.Emit(chela.Event{Kind: chela.EventNotice, Session: u.Session, Turn: u.Turn, Text: text, At: u.CreatedAt})
	}
	return nil
}

// release releases a reservation that may or may not have been committed: its
// call is not made.
func (l *Ledger) release(ctx context.Context, u chela.Usage) {
	u.State, u.Cost = chela.UsageReleased, 0
	err := l.record(context.WithoutCancel(ctx), u)
	if err != nil && chela.KindOf(err) != chela.Conflict { // it is committed, and Tend closes it
		l.cfg.Log.Warn("reservation not released", "usage", u.ID, "turn", u.Turn, "error", err)
	}
}

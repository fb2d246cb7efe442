package store

import (
	"context"

	"chela"
	"chela/internal/store/engine"
)

// Reserve adds a ledger row for a call before it is made, and reserves its
// maximum cost from every budget that covers it, claimed or not. Claimed
// budgets at their warning threshold are passed to warn, before the commit. If
// a claimed budget lacks the amount, or was not counted, the transaction fails
// with an Exhausted error whose Limit names the budget. It returns Conflict if
// the turn has an open reservation.
func (w *Write) Reserve(ctx context.Context, u chela.Usage, claims []Claim, warn func(Claim)) error {
	if err := w.charge(ctx, u, claims); err != nil {
		return err
	}
	for _, c := range claims {
		if err := c.OnWarning(ctx, w.tx, warn); err != nil {
			return err
		}
	}
	return nil
}

// Charge adds a ledger row without a reservation, and books it on the budgets
// that cover it. Session and turn are optional.
func (w *Write) Charge(ctx context.Context, u chela.Usage) error { return w.charge(ctx, u, nil) }

func (w *Write) charge(ctx context.Context, u chela.Usage, claims []Claim) error {
	if err := spendBudgets(ctx, w.tx, u, claims); err != nil {
		return err
	}
	return usageTable.add(ctx, w.tx, u)
}

// Settle stores the outcome of a reserved call, and moves its reservation to
// the spent amount, on the day of the reservation. It returns Conflict if the
// call was already settled.
func (w *Write) Settle(ctx context.Context, u chela.Usage) error {
	s, err := w.settling(ctx, u)
	if err != nil {
		return err
	}
	return w.tx.Move(ctx, "usage", u.ID, s.Text, s.Args...)
}

// SettleIfOpen is Settle for an answer that is kept in any case: if the call
// was already settled, nothing changes. Otherwise settled is called, before the
// commit.
func (w *Write) SettleIfOpen(ctx context.Context, u chela.Usage, settled func()) error {
	s, err := w.settling(ctx, u)
	if err != nil {
		return err
	}
	s.Text += ` returning id`
	s.Each = func(engine.Row) error {
		settled()
		return nil
	}
	return w.tx.Queue(ctx, s)
}

// settling moves the reservation, and returns the statement that updates the
// row.
func (w *Write) settling(ctx context.Context, u chela.Usage) (s engine.Statement, err error) {
	if !chela.UsageReserved.CanMove(u.State) {
		return s, illegalMove("usage", u.ID, chela.UsageReserved, u.State)
	}
	if err := moveReserved(ctx, w.tx, u); err != nil {
		return s, err
	}
	n := u.Tokens
	s.Text = `update usage set state = $2, model = $3, input = $4, output = $5, cache_read = $6,
		cache_write = $7, reasoning = $8, cost = $9, guessed = $10 where id = $1 and state = 'reserved'`
	s.Args = []any{
		u.ID, u.State, u.Model, n.Input, n.Output, n.CacheRead, n.CacheWrite, n.Reasoning, int64(u.Cost), u.Guessed,
	}
	return s, nil
}

// Reservations returns the open reservations: of one turn, or of all if turn is
// empty.
func (r *Read) Reservations(ctx context.Context, turn chela.TurnID) ([]chela.Usage, error) {
	return usageTable.all(ctx, r.tx, `where state = 'reserved' and (turn = $1 or $1 = '')
		order by created_at, id`, turn)
}

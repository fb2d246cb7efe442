package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/budget"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Claim is what a call wants of a budget.
type Claim = budget.Claim

// Reserve adds a row to the ledger for a call that is about to be made, and takes
// what it may cost out of every budget that it falls under, those that are claimed
// and those that others keep. Claimed budgets from which somebody must be warned
// are handed to warn, before the commit. If one has not enough left, or was not
// counted, the transaction fails with an Exhausted error whose Limit tells which.
// It is a Conflict if something is reserved for the same turn.
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

// Charge adds a row to the ledger that nothing was reserved for, and takes it out of
// the budgets that it falls under. It may be of no session and of no turn.
func (w *Write) Charge(ctx context.Context, u chela.Usage) error { return w.charge(ctx, u, nil) }

func (w *Write) charge(ctx context.Context, u chela.Usage, claims []Claim) error {
	if err := budget.Spend(ctx, w.tx, u, claims); err != nil {
		return err
	}
	n := u.Tokens
	return w.tx.Must(ctx, `insert into usage (id, session, turn, step, job, routine, model, purpose, state,
			input, output, cache_read, cache_write, reasoning, cost, guessed, node, created_at)
		values ($1, nullif($2, ''), nullif($3, ''), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		string(u.ID), string(u.Session), string(u.Turn), u.Step, string(u.Job), string(u.Routine), u.Model, u.Purpose, string(u.State),
		n.Input, n.Output, n.CacheRead, n.CacheWrite, n.Reasoning, int64(u.Cost), rows.Bit(u.Guessed), string(u.Node), rows.Micros(u.CreatedAt))
}

// CountBudgets counts budgets out of the ledger, so that calls can be reserved from
// them. It is the only thing in its transaction.
func (w *Write) CountBudgets(ctx context.Context, budgets []chela.Budget, now time.Time) error {
	return budget.Count(ctx, w.tx, budgets, now)
}

// Settle stores how a call ended that was reserved, and moves what was reserved
// for it to what is spent, of the day when it was. It is a Conflict if somebody else did.
func (w *Write) Settle(ctx context.Context, u chela.Usage) error {
	s, err := w.settling(ctx, u)
	if err != nil {
		return err
	}
	return w.tx.Move(ctx, "usage", string(u.ID), s.Text, s.Args...)
}

// SettleIfOpen is Settle for an answer that is kept in any case: where somebody
// else has said how the call ended, nothing changes. Else settled is called, before
// the commit.
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

// settling moves what is reserved, and returns the statement that changes the row.
func (w *Write) settling(ctx context.Context, u chela.Usage) (s engine.Statement, err error) {
	if !chela.UsageReserved.CanMove(u.State) {
		return s, rows.Illegal("usage", string(u.ID), chela.UsageReserved, u.State)
	}
	if err := budget.Move(ctx, w.tx, u); err != nil {
		return s, err
	}
	n := u.Tokens
	s.Text = `update usage set state = $2, model = $3, input = $4, output = $5, cache_read = $6,
		cache_write = $7, reasoning = $8, cost = $9, guessed = $10 where id = $1 and state = 'reserved'`
	s.Args = []any{
		string(u.ID), string(u.State), u.Model, n.Input, n.Output, n.CacheRead, n.CacheWrite, n.Reasoning, int64(u.Cost), rows.Bit(u.Guessed),
	}
	return s, nil
}

// BudgetOf returns what was spent of a budget and what is reserved, counted out
// of the ledger.
func (r *Read) BudgetOf(ctx context.Context, b chela.Budget) (chela.Budget, error) {
	return budget.Of(ctx, r.tx, b)
}

// Reservations returns what is reserved: for one turn, or for all if turn is
// empty.
func (r *Read) Reservations(ctx context.Context, turn chela.TurnID) ([]chela.Usage, error) {
	return rows.All(ctx, r.tx, scanUsage, `select `+usageColumns+` from usage where state = 'reserved' and (turn = $1 or $1 = '')
		order by created_at, id`, string(turn))
}

// ForgetBudgets forgets budgets that were not used since a time. Whoever needs
// one again counts it anew.
func (w *Write) ForgetBudgets(ctx context.Context, before time.Time) error {
	return budget.Forget(ctx, w.tx, before)
}

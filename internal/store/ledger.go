package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

// A Claim is what a call wants of a budget.
type Claim struct {
	chela.Budget       // Spent and Reserved do not matter
	Amount       int64 // that is reserved; 1 where calls are counted
	Warn         int64 // spent from which on somebody is warned, once; 0 for never
	Anew         bool  // what was spent and reserved is counted out of the ledger first
}

// Which rows of the ledger, u, a budget, b, is about.
var budgetRows = map[chela.Limit]string{
	chela.LimitDay:     `u.created_at >= b.starts_at and u.created_at < b.ends_at`,
	chela.LimitActions: `u.created_at >= b.starts_at and u.created_at < b.ends_at`,
	chela.LimitSession: `u.session = b.key`,
	chela.LimitTurn: `u.turn = b.key and u.session = (select session from turns where id = b.key)
		and u.created_at >= (select created_at from turns where id = b.key)`,
	chela.LimitJob:     `u.job = b.key and u.job <> ''`,
	chela.LimitRoutine: `u.routine = b.key and u.routine <> '' and u.created_at >= b.starts_at and u.created_at < b.ends_at`,
}

// budgetSums returns the expressions of what was spent of a budget, b, and what
// is reserved of it.
func budgetSums(l chela.Limit) (spent, reserved string) {
	from := ` from usage u where ` + budgetRows[l]
	if l == chela.LimitActions { // a call is spent as soon as it is made
		return `(select count(*)` + from + `)`, `0`
	}
	return `(select cast(coalesce(sum(u.cost), 0) as bigint)` + from + ` and u.state <> 'reserved')`,
		`(select cast(coalesce(sum(u.cost), 0) as bigint)` + from + ` and u.state = 'reserved')`
}

const atBudget = ` where b.scope = $1 and b.key = $2 and b.starts_at = $3`

func (c Claim) at(more ...any) []any {
	return append([]any{string(c.Limit), c.Key, micros(c.Since)}, more...)
}

// Reserve adds a row to the ledger for a call that is about to be made, and
// takes what it may cost out of every budget that it is claimed from. Budgets
// from which somebody must be warned are handed to warn, before the commit. If
// one has not enough left, the transaction fails with an Exhausted error whose
// Limit tells which. It is a Conflict if something is reserved for the same turn.
func (w *Write) Reserve(ctx context.Context, u chela.Usage, claims []Claim, warn func(Claim)) error {
	for _, c := range claims {
		if err := w.claim(ctx, c, u.CreatedAt, warn); err != nil {
			return err
		}
	}
	return w.Charge(ctx, u)
}

func (w *Write) claim(ctx context.Context, c Claim, now time.Time, warn func(Claim)) error {
	if c.Anew { // the row is locked before it is counted: what somebody adds meanwhile is not counted twice
		err := w.must(ctx, `insert into budgets (scope, key, starts_at, ends_at, spent, reserved, warned, used_at)
			values ($1, $2, $3, $4, 0, 0, 0, $5) on conflict (scope, key, starts_at) do update set used_at = excluded.used_at`,
			c.at(micros(c.Resets), micros(now))...)
		if err != nil {
			return err
		}
		spent, reserved := budgetSums(c.Limit)
		if err := w.must(ctx, `update budgets as b set spent = `+spent+`, reserved = `+reserved+atBudget, c.at()...); err != nil {
			return err
		}
	}
	taken := "reserved = b.reserved + $4"
	if c.Limit == chela.LimitActions {
		taken = "spent = b.spent + $4"
	}
	err := w.tx.Queue(ctx, engine.Statement{
		Text:    `update budgets as b set ` + taken + `, used_at = $6` + atBudget + ` and b.spent + b.reserved + $4 <= $5`,
		Args:    c.at(c.Amount, c.Most, micros(now)),
		Unmoved: &chela.Error{Kind: chela.Exhausted, Msg: "the limit " + string(c.Limit) + " is reached", Limit: c.Limit},
	})
	if err != nil || c.Warn == 0 {
		return err
	}
	return w.tx.Queue(ctx, engine.Statement{
		Text: `update budgets as b set warned = 1` + atBudget + ` and b.warned = 0 and b.spent >= $4 returning spent`,
		Args: c.at(c.Warn),
		Each: func(row engine.Row) error {
			err := row.Scan(&c.Spent)
			warn(c)
			return err
		},
	})
}

// Settle stores how a call ended that was reserved, and moves what was reserved
// for it to what is spent, of the day when it was. It is a Conflict if somebody else did.
func (w *Write) Settle(ctx context.Context, u chela.Usage) error {
	if !chela.UsageReserved.CanMove(u.State) {
		return illegal("usage", string(u.ID), chela.UsageReserved, u.State)
	}
	for _, limit := range chela.LimitsOfMoney() { // locked in the order of claims
		err := w.must(ctx, `update budgets set spent = spent + $4, reserved = case when reserved > r.cost then reserved - r.cost else 0 end
			from (select cost, created_at from usage where id = $3 and state = 'reserved') as r
			where scope = $1 and key = $2 and starts_at <= r.created_at and (ends_at = 0 or ends_at > r.created_at)`,
			string(limit), u.Key(limit), string(u.ID), int64(u.Cost))
		if err != nil {
			return err
		}
	}
	n := u.Tokens
	return w.move(ctx, "usage", string(u.ID), `update usage set state = $2, model = $3, input = $4, output = $5, cache_read = $6,
		cache_write = $7, reasoning = $8, cost = $9, guessed = $10 where id = $1 and state = 'reserved'`,
		string(u.ID), string(u.State), u.Model, n.Input, n.Output, n.CacheRead, n.CacheWrite, n.Reasoning, int64(u.Cost), bit(u.Guessed))
}

// BudgetOf returns what was spent of a budget and what is reserved, counted out
// of the ledger.
func (r *Read) BudgetOf(ctx context.Context, b chela.Budget) (chela.Budget, error) {
	spent, reserved := budgetSums(b.Limit)
	b, _, err := first(ctx, r, func(row engine.Row) (chela.Budget, error) {
		err := row.Scan(&b.Spent, &b.Reserved)
		return b, err
	}, `with b as (select cast($1 as text) as key, cast($2 as bigint) as starts_at, cast($3 as bigint) as ends_at)
		select `+spent+`, `+reserved+` from b`, b.Key, micros(b.Since), micros(b.Resets))
	return b, err
}

// Reservations returns what is reserved: for one turn, or for all if turn is
// empty.
func (r *Read) Reservations(ctx context.Context, turn chela.TurnID) ([]chela.Usage, error) {
	return all(ctx, r, scanUsage, `select `+usageColumns+` from usage where state = 'reserved' and (turn = $1 or $1 = '')
		order by created_at, id`, string(turn))
}

// ForgetBudgets forgets budgets that were not used since a time. Whoever needs
// one again counts it anew.
func (w *Write) ForgetBudgets(ctx context.Context, before time.Time) error {
	return w.must(ctx, `delete from budgets where used_at < $1`, micros(before))
}

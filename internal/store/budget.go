package store

// The budget rows cache sums over the ledger. A budget's row has the spent and
// the reserved amount, and is updated in the transactions that change the
// ledger. It exists from its first count on, and from then on every ledger
// transaction updates it, whatever its limits and zone. It may be deleted at
// any time and is counted again on demand.
//
//	absent ─▶ counted      a caller wants to claim from it
//	counted ─▶ absent      unused for long
//
// All transactions update rows in one order of limits, to avoid deadlocks.

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

// A Claim is a call's request to reserve from a budget.
type Claim struct {
	chela.Budget       // Spent and Reserved are ignored
	Warn         int64 // spent amount that triggers a warning, once; 0 for none
	Anew         bool  // the row may be missing; only for budgets with a single spender: those of turns
}

// budgetOrder is the lock order of rows.
var budgetOrder = chela.LimitsOfCost()

// Conditions that select the ledger rows, u, of a budget, b.
var budgetCovers = map[chela.Limit]string{
	chela.LimitDay:     `u.created_at >= b.starts_at and u.created_at < b.ends_at`,
	chela.LimitActions: `u.created_at >= b.starts_at and u.created_at < b.ends_at`,
	chela.LimitSession: `u.session = b.key`,
	chela.LimitTurn: `u.turn = b.key and u.session = (select session from turns where id = b.key)
		and u.created_at >= (select created_at from turns where id = b.key)`,
	chela.LimitJob:     `u.job = b.key and u.job <> ''`,
	chela.LimitRoutine: `u.routine = b.key and u.routine <> '' and u.created_at >= b.starts_at and u.created_at < b.ends_at`,
}

// budgetSums returns the expressions for the spent and the reserved amount of a
// budget, b. Released calls do not count as actions.
func budgetSums(l chela.Limit) (spent, reserved string) {
	amount := `cast(coalesce(sum(u.cost), 0) as bigint)`
	if l == chela.LimitActions {
		amount = `count(*)`
	}
	from := `(select ` + amount + ` from usage u where ` + budgetCovers[l]
	return from + ` and u.state not in ('reserved', 'released'))`, from + ` and u.state = 'reserved')`
}

// whereBudget selects the row of a budget.
const whereBudget = ` where scope = $1 and key = $2 and starts_at = $3`

func budgetArgs(b chela.Budget, more ...any) []any {
	return append([]any{b.Limit, b.Key, b.Since}, more...)
}

// CountBudgets counts budgets from the ledger, so that calls can reserve from
// them, and adds missing rows. It excludes concurrent writers of budgets: it waits
// for transactions that changed the ledger and found no row to update. It must be
// the only call of its transaction.
func (w *Write) CountBudgets(ctx context.Context, budgets []chela.Budget, now time.Time) error {
	if err := w.tx.Lock(ctx, "budgets"); err != nil {
		return err
	}
	for _, b := range budgets {
		if err := countBudget(ctx, w.tx, b, now); err != nil {
			return err
		}
	}
	return nil
}

func countBudget(ctx context.Context, tx engine.Tx, b chela.Budget, now time.Time) error {
	err := tx.Must(ctx, `insert into budgets (scope, key, starts_at, ends_at, spent, reserved, warned, used_at)
		values ($1, $2, $3, $4, 0, 0, 0, $5) on conflict (scope, key, starts_at) do update set used_at = excluded.used_at`,
		budgetArgs(b, b.Resets, now)...)
	if err != nil {
		return err
	}
	spent, reserved := budgetSums(b.Limit)
	return tx.Must(ctx, `update budgets as b set spent = `+spent+`, reserved = `+reserved+whereBudget, budgetArgs(b)...)
}

// spendBudgets books a new ledger row on all budgets that cover it. If a
// claimed budget lacks the amount, the transaction fails with an Exhausted
// error whose Limit names the budget. It must precede the insertion of the row.
func spendBudgets(ctx context.Context, tx engine.Tx, u chela.Usage, claims []Claim) error {
	for _, limit := range budgetOrder {
		for _, c := range claims {
			if c.Limit == limit && c.Anew {
				if err := countBudget(ctx, tx, c.Budget, u.CreatedAt); err != nil {
					return err
				}
			}
		}
		if err := spendLimit(ctx, tx, u, limit); err != nil {
			return err
		}
		for _, c := range claims {
			if c.Limit != limit {
				continue
			}
			err := tx.Queue(ctx, engine.Statement{
				Text:    `update budgets set used_at = $5` + whereBudget + ` and spent + reserved <= $4`,
				Args:    budgetArgs(c.Budget, c.Most, u.CreatedAt),
				Unmoved: &chela.Error{Kind: chela.Exhausted, Msg: "the limit " + string(c.Limit) + " is reached", Limit: c.Limit},
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// spendLimit books a ledger row on the budgets of one limit, in all zones.
func spendLimit(ctx context.Context, tx engine.Tx, u chela.Usage, limit chela.Limit) error {
	amount := int64(u.Cost)
	if limit == chela.LimitActions {
		amount = 1
	}
	if amount == 0 || u.State == chela.UsageReleased || u.Key(limit) == "" && !limit.IsOfHome() {
		return nil
	}
	into := "spent"
	if u.State == chela.UsageReserved {
		into = "reserved"
	}
	return tx.Must(ctx, `update budgets set `+into+` = `+into+` + $4
		where scope = $1 and key = $2 and starts_at <= $3 and (ends_at = 0 or ends_at > $3)`,
		limit, u.Key(limit), u.CreatedAt, amount)
}

// OnWarning calls warn with the claim and its spent amount when the warning
// threshold is reached for the first time.
func (c Claim) OnWarning(ctx context.Context, tx engine.Tx, warn func(Claim)) error {
	if c.Warn == 0 {
		return nil
	}
	return tx.Queue(ctx, engine.Statement{
		Text: `update budgets set warned = 1` + whereBudget + ` and warned = 0 and spent >= $4 returning spent`,
		Args: budgetArgs(c.Budget, c.Warn),
		Each: func(row engine.Row) error {
			err := row.Scan(&c.Spent)
			warn(c)
			return err
		},
	})
}

// moveReserved moves a ledger row's reservation, which ends, to the spent
// amount of the budgets that cover it. It must precede the update of the row.
func moveReserved(ctx context.Context, tx engine.Tx, u chela.Usage) error {
	for _, limit := range budgetOrder {
		if u.Key(limit) == "" && !limit.IsOfHome() {
			continue
		}
		reserved, spent := "r.cost", int64(u.Cost)
		if limit == chela.LimitActions {
			reserved, spent = "1", 1
			if u.State == chela.UsageReleased {
				spent = 0
			}
		}
		err := tx.Must(ctx, `update budgets set spent = spent + $4,
				reserved = case when reserved > `+reserved+` then reserved - `+reserved+` else 0 end
			from (select cost, created_at from usage where id = $3 and state = 'reserved') as r
			where scope = $1 and key = $2 and starts_at <= r.created_at and (ends_at = 0 or ends_at > r.created_at)`,
			limit, u.Key(limit), u.ID, spent)
		if err != nil {
			return err
		}
	}
	return nil
}

// BudgetOf returns the spent and the reserved amount of a budget, counted from
// the ledger.
func (r *Read) BudgetOf(ctx context.Context, b chela.Budget) (chela.Budget, error) {
	spent, reserved := budgetSums(b.Limit)
	err := r.tx.Query(ctx, func(row engine.Row) error { return row.Scan(&b.Spent, &b.Reserved) },
		`with b as (select cast($1 as text) as key, cast($2 as bigint) as starts_at, cast($3 as bigint) as ends_at)
		select `+spent+`, `+reserved+` from b`, b.Key, b.Since, b.Resets)
	return b, err
}

// ForgetBudgets deletes budgets unused since a time. They are counted again on
// demand.
func (w *Write) ForgetBudgets(ctx context.Context, before time.Time) error {
	return w.tx.Must(ctx, `delete from budgets where used_at < $1`, before)
}

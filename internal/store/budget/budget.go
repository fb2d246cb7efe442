// Package budget holds the rows that sum up the ledger. The row of a budget has
// what was spent of it and what is reserved, and is changed in the transactions
// that change the ledger. It exists from the time on when somebody counts it, and
// everybody who changes the ledger from then on changes it too, with whatever
// limits and in whatever zone. It may be forgotten at any time: who needs it again
// counts it anew.
//
//	absent ─▶ counted      somebody wants to claim from it
//	counted ─▶ absent      nobody used it for long
//
// All who change rows do so limit by limit, in one order, so that nobody waits for
// somebody who waits for him.
package budget

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Claim is what a call wants of a budget.
type Claim struct {
	chela.Budget       // Spent and Reserved do not matter
	Warn         int64 // spent from which on somebody is warned, once; 0 for never
	Anew         bool  // the row may be missing. Only for budgets that nobody else spends from: those of turns
}

// order is the order in which rows are locked.
var order = chela.LimitsOfCost()

// Which rows of the ledger, u, a budget, b, is about.
var covered = map[chela.Limit]string{
	chela.LimitDay:     `u.created_at >= b.starts_at and u.created_at < b.ends_at`,
	chela.LimitActions: `u.created_at >= b.starts_at and u.created_at < b.ends_at`,
	chela.LimitSession: `u.session = b.key`,
	chela.LimitTurn: `u.turn = b.key and u.session = (select session from turns where id = b.key)
		and u.created_at >= (select created_at from turns where id = b.key)`,
	chela.LimitJob:     `u.job = b.key and u.job <> ''`,
	chela.LimitRoutine: `u.routine = b.key and u.routine <> '' and u.created_at >= b.starts_at and u.created_at < b.ends_at`,
}

// sums returns the expressions of what was spent of a budget, b, and what is
// reserved of it. Calls that were refused are no actions.
func sums(l chela.Limit) (spent, reserved string) {
	amount := `cast(coalesce(sum(u.cost), 0) as bigint)`
	if l == chela.LimitActions {
		amount = `count(*)`
	}
	from := `(select ` + amount + ` from usage u where ` + covered[l]
	return from + ` and u.state not in ('reserved', 'released'))`, from + ` and u.state = 'reserved')`
}

// here is where a budget has its row.
const here = ` where scope = $1 and key = $2 and starts_at = $3`

func at(b chela.Budget, more ...any) []any {
	return append([]any{string(b.Limit), b.Key, rows.Micros(b.Since)}, more...)
}

// Count counts budgets out of the ledger, and makes the rows of those that have
// none. Meanwhile nobody else changes one: who has changed the ledger, and found
// no row to change, is waited for. It must be the first in its transaction.
func Count(ctx context.Context, tx rows.Tx, budgets []chela.Budget, now time.Time) error {
	if err := tx.Lock(ctx, "budgets"); err != nil {
		return err
	}
	for _, b := range budgets {
		if err := count(ctx, tx, b, now); err != nil {
			return err
		}
	}
	return nil
}

func count(ctx context.Context, tx rows.Tx, b chela.Budget, now time.Time) error {
	err := tx.Must(ctx, `insert into budgets (scope, key, starts_at, ends_at, spent, reserved, warned, used_at)
		values ($1, $2, $3, $4, 0, 0, 0, $5) on conflict (scope, key, starts_at) do update set used_at = excluded.used_at`,
		at(b, rows.Micros(b.Resets), rows.Micros(now))...)
	if err != nil {
		return err
	}
	spent, reserved := sums(b.Limit)
	return tx.Must(ctx, `update budgets as b set spent = `+spent+`, reserved = `+reserved+here, at(b)...)
}

// Spend takes a row that is added to the ledger out of all budgets that it falls
// under. If one that is claimed from does not have that much left, the transaction
// fails with an Exhausted error whose Limit tells which. It comes before the row is
// added.
func Spend(ctx context.Context, tx rows.Tx, u chela.Usage, claims []Claim) error {
	for _, limit := range order {
		for _, c := range claims {
			if c.Limit == limit && c.Anew {
				if err := count(ctx, tx, c.Budget, u.CreatedAt); err != nil {
					return err
				}
			}
		}
		if err := spend(ctx, tx, u, limit); err != nil {
			return err
		}
		for _, c := range claims {
			if c.Limit != limit {
				continue
			}
			err := tx.Queue(ctx, engine.Statement{
				Text:    `update budgets set used_at = $5` + here + ` and spent + reserved <= $4`,
				Args:    at(c.Budget, c.Most, rows.Micros(u.CreatedAt)),
				Unmoved: &chela.Error{Kind: chela.Exhausted, Msg: "the limit " + string(c.Limit) + " is reached", Limit: c.Limit},
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// spend takes a row of the ledger out of the budgets of one limit, those of all
// zones.
func spend(ctx context.Context, tx rows.Tx, u chela.Usage, limit chela.Limit) error {
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
		string(limit), u.Key(limit), rows.Micros(u.CreatedAt), amount)
}

// OnWarning hands the claim to warn, with what was spent, if this is the first time
// that so much is.
func (c Claim) OnWarning(ctx context.Context, tx rows.Tx, warn func(Claim)) error {
	if c.Warn == 0 {
		return nil
	}
	return tx.Queue(ctx, engine.Statement{
		Text: `update budgets set warned = 1` + here + ` and warned = 0 and spent >= $4 returning spent`,
		Args: at(c.Budget, c.Warn),
		Each: func(row engine.Row) error {
			err := row.Scan(&c.Spent)
			warn(c)
			return err
		},
	})
}

// Move moves what a row of the ledger has reserved, which ends so, to what was
// spent of the budgets that it falls under. It comes before the row is changed.
func Move(ctx context.Context, tx rows.Tx, u chela.Usage) error {
	for _, limit := range order {
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
			string(limit), u.Key(limit), string(u.ID), spent)
		if err != nil {
			return err
		}
	}
	return nil
}

// Of returns what was spent of a budget and what is reserved, counted out of the
// ledger.
func Of(ctx context.Context, tx rows.Tx, b chela.Budget) (chela.Budget, error) {
	spent, reserved := sums(b.Limit)
	err := tx.Query(ctx, func(row engine.Row) error { return row.Scan(&b.Spent, &b.Reserved) },
		`with b as (select cast($1 as text) as key, cast($2 as bigint) as starts_at, cast($3 as bigint) as ends_at)
		select `+spent+`, `+reserved+` from b`, b.Key, rows.Micros(b.Since), rows.Micros(b.Resets))
	return b, err
}

// Forget forgets budgets that were not used since a time.
func Forget(ctx context.Context, tx rows.Tx, before time.Time) error {
	return tx.Must(ctx, `delete from budgets where used_at < $1`, rows.Micros(before))
}

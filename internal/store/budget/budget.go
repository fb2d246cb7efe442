// Package budget holds the rows that sum up the ledger. The row of a budget has
// what was spent of it and what is reserved, and is changed in the transactions
// that change the ledger. It exists from the time on when somebody claims from it,
// and everybody who changes the ledger from then on changes it too, with whatever
// limits and in whatever zone. It may be forgotten at any time: who needs it again
// counts it anew.
//
//	absent ─▶ counted      somebody claims from it, Anew
//	counted ─▶ absent      nobody used it for long
package budget

import (
	"context"
	"strings"
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
var rows = map[chela.Limit]string{
	chela.LimitDay:     `u.created_at >= b.starts_at and u.created_at < b.ends_at`,
	chela.LimitActions: `u.created_at >= b.starts_at and u.created_at < b.ends_at`,
	chela.LimitSession: `u.session = b.key`,
	chela.LimitTurn: `u.turn = b.key and u.session = (select session from turns where id = b.key)
		and u.created_at >= (select created_at from turns where id = b.key)`,
	chela.LimitJob:     `u.job = b.key and u.job <> ''`,
	chela.LimitRoutine: `u.routine = b.key and u.routine <> '' and u.created_at >= b.starts_at and u.created_at < b.ends_at`,
}

// sums returns the expressions of what was spent of a budget, b, and what is
// reserved of it.
func sums(l chela.Limit) (spent, reserved string) {
	from := ` from usage u where ` + rows[l]
	if l == chela.LimitActions { // a call is spent as soon as it is made, until it turns out that it was refused
		return `(select count(*)` + from + ` and u.state <> 'released')`, `0`
	}
	return `(select cast(coalesce(sum(u.cost), 0) as bigint)` + from + ` and u.state <> 'reserved')`,
		`(select cast(coalesce(sum(u.cost), 0) as bigint)` + from + ` and u.state = 'reserved')`
}

// here is where a claim finds its row.
const here = ` where b.scope = $1 and b.key = $2 and b.starts_at = $3`

func (c Claim) at(more ...any) []any {
	return append([]any{string(c.Limit), c.Key, engine.Micros(c.Since)}, more...)
}

// order is the order in which rows are locked: that of the claims.
var order = append([]chela.Limit{chela.LimitActions}, chela.LimitsOfMoney()...)

// scopes is a list of them all.
var scopes = func() string {
	var all []string
	for _, limit := range order {
		all = append(all, "'"+string(limit)+"'")
	}
	return strings.Join(all, ", ")
}()

// Lock locks the row of a claim, counted anew if that is wanted, and sees that
// enough is left: else the transaction fails with an Exhausted error whose Limit
// tells which.
func (c Claim) Lock(ctx context.Context, tx engine.Tx, now time.Time) error {
	if c.Anew { // the row is locked before it is counted: what somebody adds meanwhile is not counted twice
		err := queue(ctx, tx, `insert into budgets (scope, key, starts_at, ends_at, spent, reserved, warned, used_at)
			values ($1, $2, $3, $4, 0, 0, 0, $5) on conflict (scope, key, starts_at) do update set used_at = excluded.used_at`,
			c.at(engine.Micros(c.Resets), engine.Micros(now))...)
		if err != nil {
			return err
		}
		spent, reserved := sums(c.Limit)
		if err := queue(ctx, tx, `update budgets as b set spent = `+spent+`, reserved = `+reserved+here, c.at()...); err != nil {
			return err
		}
	}
	return tx.Queue(ctx, engine.Statement{
		Text:    `update budgets as b set used_at = $6` + here + ` and b.spent + b.reserved + $4 <= $5`,
		Args:    c.at(c.Amount, c.Most, engine.Micros(now)),
		Unmoved: &chela.Error{Kind: chela.Exhausted, Msg: "the limit " + string(c.Limit) + " is reached", Limit: c.Limit},
	})
}

// OnWarning hands the claim to warn, with what was spent, if this is the first time
// that so much is.
func (c Claim) OnWarning(ctx context.Context, tx engine.Tx, warn func(Claim)) error {
	if c.Warn == 0 {
		return nil
	}
	return tx.Queue(ctx, engine.Statement{
		Text: `update budgets as b set warned = 1` + here + ` and b.warned = 0 and b.spent >= $4 returning spent`,
		Args: c.at(c.Warn),
		Each: func(row engine.Row) error {
			err := row.Scan(&c.Spent)
			warn(c)
			return err
		},
	})
}

// spend takes an amount out of all budgets that have one of some keys.
var spend = `update budgets set
		spent = spent + case scope when '` + string(chela.LimitActions) + `' then 1 else cast($2 as bigint) end,
		reserved = reserved + case scope when '` + string(chela.LimitActions) + `' then 0 else cast($3 as bigint) end
	where scope in (` + scopes + `) and key in ('', $4, $5, $6, $7) and starts_at <= $1 and (ends_at = 0 or ends_at > $1)`

// Spend takes a new row of the ledger out of all budgets that it falls under, with
// one statement, as most often there are none. Those that are claimed are locked
// before. Keys name budgets without their limits: no session is called like a turn.
func Spend(ctx context.Context, tx engine.Tx, u chela.Usage) error {
	spent, reserved := int64(u.Cost), int64(0)
	if u.State == chela.UsageReserved {
		spent, reserved = 0, spent
	}
	return queue(ctx, tx, spend,
		engine.Micros(u.CreatedAt), spent, reserved, string(u.Session), string(u.Turn), string(u.Job), string(u.Routine))
}

// Move moves what a row of the ledger has reserved, which ends so, to what was
// spent of the budgets that it falls under. One that was released was no action. It
// comes before the row is changed.
func Move(ctx context.Context, tx engine.Tx, u chela.Usage) error {
	for _, limit := range order {
		moved, amount := `spent = spent + $4, reserved = case when reserved > r.cost then reserved - r.cost else 0 end`, int64(u.Cost)
		switch {
		case limit == chela.LimitActions && u.State == chela.UsageReleased:
			moved, amount = `spent = case when spent > $4 then spent - $4 else 0 end`, 1
		case limit == chela.LimitActions, u.Key(limit) == "" && !limit.IsOfHome():
			continue
		}
		err := queue(ctx, tx, `update budgets set `+moved+`
			from (select cost, created_at from usage where id = $3 and state = 'reserved') as r
			where scope = $1 and key = $2 and starts_at <= r.created_at and (ends_at = 0 or ends_at > r.created_at)`,
			string(limit), u.Key(limit), string(u.ID), amount)
		if err != nil {
			return err
		}
	}
	return nil
}

// Of returns what was spent of a budget and what is reserved, counted out of the
// ledger.
func Of(ctx context.Context, tx engine.Tx, b chela.Budget) (chela.Budget, error) {
	spent, reserved := sums(b.Limit)
	err := tx.Query(ctx, func(row engine.Row) error { return row.Scan(&b.Spent, &b.Reserved) },
		`with b as (select cast($1 as text) as key, cast($2 as bigint) as starts_at, cast($3 as bigint) as ends_at)
		select `+spent+`, `+reserved+` from b`, b.Key, engine.Micros(b.Since), engine.Micros(b.Resets))
	return b, err
}

// Forget forgets budgets that were not used since a time.
func Forget(ctx context.Context, tx engine.Tx, before time.Time) error {
	return queue(ctx, tx, `delete from budgets where used_at < $1`, engine.Micros(before))
}

func queue(ctx context.Context, tx engine.Tx, text string, args ...any) error {
	return tx.Queue(ctx, engine.Statement{Text: text, Args: args})
}

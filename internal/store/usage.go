package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

// Charge adds a row to the ledger.
func (w *Write) Charge(ctx context.Context, u chela.Usage) error {
	return w.must(ctx, `insert into usage
		(id, session, turn, step, model, purpose, input, output, cache_read, cache_write, reasoning, created_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		string(u.ID), string(u.Session), string(u.Turn), u.Step, u.Model, u.Purpose, u.Tokens.Input, u.Tokens.Output,
		u.Tokens.CacheRead, u.Tokens.CacheWrite, u.Tokens.Reasoning, micros(u.CreatedAt))
}

// UsageSince returns what was spent since a time: by one session, or by all if
// key is empty.
func (r *Read) UsageSince(ctx context.Context, key chela.SessionKey, since time.Time) (chela.TokenUsage, error) {
	sum, _, err := first(ctx, r, scanTokens, `select cast(coalesce(sum(input), 0) as bigint), cast(coalesce(sum(output), 0) as bigint),
		cast(coalesce(sum(cache_read), 0) as bigint), cast(coalesce(sum(cache_write), 0) as bigint), cast(coalesce(sum(reasoning), 0) as bigint)
		from usage where (session = $1 or $1 = '') and created_at >= $2`, string(key), micros(since))
	return sum, err
}

func scanTokens(row engine.Row) (u chela.TokenUsage, err error) {
	err = row.Scan(&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning)
	return u, err
}

// UsageByDay returns what was spent since a time, by day in UTC and model, the
// newest day first.
func (r *Read) UsageByDay(ctx context.Context, since time.Time) ([]chela.UsageSum, error) {
	return all(ctx, r, func(row engine.Row) (s chela.UsageSum, err error) {
		var day int64
		t := &s.Tokens
		err = row.Scan(&day, &s.Model, &s.Calls, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Reasoning)
		s.Day = time.Unix(day*86400, 0).UTC().Format(time.DateOnly)
		return s, err
	}, `select created_at / 86400000000 as day, model, count(*),
		cast(sum(input) as bigint), cast(sum(output) as bigint), cast(sum(cache_read) as bigint), cast(sum(cache_write) as bigint),
		cast(sum(reasoning) as bigint)
		from usage where created_at >= $1 group by day, model order by day desc, model`, micros(since))
}

// TurnUsage returns the rows of the ledger that a turn caused, in order.
func (r *Read) TurnUsage(ctx context.Context, t chela.Turn) ([]chela.Usage, error) {
	return all(ctx, r, func(row engine.Row) (u chela.Usage, err error) {
		n := &u.Tokens
		err = row.Scan(&u.ID, &u.Session, &u.Turn, &u.Step, &u.Model, &u.Purpose, &n.Input, &n.Output, &n.CacheRead, &n.CacheWrite,
			&n.Reasoning, stored{&u.CreatedAt})
		return u, err
	}, `select id, session, turn, step, model, purpose, input, output, cache_read, cache_write, reasoning, created_at
		from usage where session = $1 and created_at >= $2 and turn = $3 order by created_at, step`,
		string(t.Session), micros(t.CreatedAt), string(t.ID))
}

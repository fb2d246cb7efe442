package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

var usageTable = tableOf[chela.Usage]("usage", "usage", `
	id session? turn? step job routine model purpose state input=Tokens.Input output=Tokens.Output
	cache_read=Tokens.CacheRead cache_write=Tokens.CacheWrite reasoning=Tokens.Reasoning cost
	guessed node created_at`)

// sumTokens sums a set of rows. Reserved amounts are not part of the cost.
const sumTokens = `cast(coalesce(sum(input), 0) as bigint), cast(coalesce(sum(output), 0) as bigint),
	cast(coalesce(sum(cache_read), 0) as bigint), cast(coalesce(sum(cache_write), 0) as bigint), cast(coalesce(sum(reasoning), 0) as bigint),
	cast(coalesce(sum(case when state <> 'reserved' then cost else 0 end), 0) as bigint),
	cast(coalesce(sum(case when state <> 'reserved' and guessed = 1 then cost else 0 end), 0) as bigint),
	cast(coalesce(sum(case when state = 'reserved' then cost else 0 end), 0) as bigint)`

// UsageSince returns the usage since a time: of one session, or of all if key
// is empty.
func (r *Read) UsageSince(ctx context.Context, key chela.SessionKey, since time.Time) (chela.UsageSum, error) {
	which, args := `created_at >= $1`, []any{since}
	if key != "" { // a condition for both cases would use no index
		which, args = which+` and session = $2`, append(args, key)
	}
	sum, _, err := queryFirst(ctx, r.tx, func(row engine.Row) (s chela.UsageSum, err error) {
		t := &s.Tokens
		err = row.Scan(&s.Calls, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Reasoning, &s.Cost, &s.Guessed, &s.Reserved)
		return s, err
	}, `select count(*), `+sumTokens+` from usage where `+which+` and state <> 'released'`, args...)
	return sum, err
}

// TurnUsage returns the ledger rows of a turn, in order.
func (r *Read) TurnUsage(ctx context.Context, t chela.Turn) ([]chela.Usage, error) {
	return usageTable.all(ctx, r.tx, `where session = $1 and created_at >= $2 and turn = $3 order by created_at, step`,
		t.Session, t.CreatedAt, t.ID)
}

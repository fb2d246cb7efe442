package store

// The table usage_days caches sums of settled ledger rows: one row for each day in
// the time zone of the home and each model, session, routine and purpose. A ledger
// row is marked in the transaction that adds it to its sums, so a report of the
// cached days and the unmarked rows is exact at any time. Sums in another time zone
// are not used, and the next batch removes them.

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

// A UsagePart is the usage of one group within a day or a quarter of an hour, or in
// total.
type UsagePart struct {
	At   time.Time // beginning of the day, or of the quarter: the granularity of time zones
	Name string    // of the model, session, routine or purpose
	Sum  chela.UsageSum
}

// usageKinds are the kinds of sums that are cached.
var usageKinds = [...]chela.UsageBy{chela.UsageByModel, chela.UsageBySession, chela.UsageByRoutine, chela.UsageByPurpose}

// usageNames are the grouping expressions.
var usageNames = map[chela.UsageBy]string{
	chela.UsageByDayModel: "model", chela.UsageByDay: "''", chela.UsageByModel: "model", chela.UsageBySession: "coalesce(session, '')",
	chela.UsageByRoutine: usageRoutine, chela.UsageByPurpose: "purpose",
}

// usageRoutine is the routine of a row: its own, the routine whose run made the
// job, or the same for the job's parent.
const usageRoutine = `coalesce(nullif(usage.routine, ''),
	(select runs.routine from jobs join routine_runs runs on runs.id = jobs.run where jobs.id = usage.job),
	(select runs.routine from jobs parts join jobs on jobs.id = parts.parent join routine_runs runs on runs.id = jobs.run
		where parts.id = usage.job), '')`

// UsageParts returns the usage since a time, grouped, in any order. If since is zero
// or the beginning of a day in zone, it reads the cached sums of days.
func (r *Read) UsageParts(ctx context.Context, by chela.UsageBy, since time.Time, zone *time.Location) ([]UsagePart, error) {
	cached := false
	if since.IsZero() || since.Equal(dayOf(since, zone)) {
		foreign, err := hasForeignDays(ctx, r.tx, zone)
		if err != nil {
			return nil, err
		}
		cached = !foreign
	}
	quarter, rest := "0", ""
	if by == chela.UsageByDay || by == chela.UsageByDayModel {
		quarter = "created_at - created_at % 900000000"
	}
	if cached {
		rest = " and summed = 0"
	}
	parts, err := queryAll(ctx, r.tx, scanPart, `select `+quarter+` as quarter, `+usageNames[by]+` as name, count(*), `+sumTokens+`
		from usage where created_at >= $1 and state <> 'released'`+rest+` group by quarter, name`, since)
	if err != nil || !cached {
		return parts, err
	}
	days, err := r.usageDays(ctx, by, since, zone)
	return append(parts, days...), err
}

func scanPart(row engine.Row) (p UsagePart, err error) {
	t := &p.Sum.Tokens
	err = row.Scan(&p.At, &p.Name, &p.Sum.Calls, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Reasoning,
		&p.Sum.Cost, &p.Sum.Guessed, &p.Sum.Reserved)
	return p, err
}

// usageDays returns the cached sums since a time.
func (r *Read) usageDays(ctx context.Context, by chela.UsageBy, since time.Time, zone *time.Location) ([]UsagePart, error) {
	day, name, kind := "0", "name", by
	switch by {
	case chela.UsageByDayModel:
		day, kind = "day", chela.UsageByModel
	case chela.UsageByDay:
		day, name, kind = "day", "''", chela.UsageByModel
	}
	return queryAll(ctx, r.tx, scanPart, `select `+day+` as at, `+name+` as part, cast(sum(calls) as bigint),
			cast(sum(input) as bigint), cast(sum(output) as bigint), cast(sum(cache_read) as bigint), cast(sum(cache_write) as bigint),
			cast(sum(reasoning) as bigint), cast(sum(cost) as bigint), cast(sum(guessed) as bigint), 0
		from usage_days where zone = $1 and kind = $2 and day >= $3 group by at, part`, zone.String(), kind, since)
}

// hasForeignDays reports whether there are sums of days in other time zones.
func hasForeignDays(ctx context.Context, tx engine.Tx, zone *time.Location) (bool, error) {
	_, found, err := queryValue[int](ctx, tx, `select 1 from usage_days where zone < $1 or zone > $1 limit 1`, zone.String())
	return found, err
}

// UnsummedUsage counts the settled ledger rows that are not in the sums of days, up to
// a limit.
func (r *Read) UnsummedUsage(ctx context.Context, zone *time.Location, limit int) (int, error) {
	foreign, err := hasForeignDays(ctx, r.tx, zone)
	if err != nil || foreign {
		return limit, err
	}
	n, _, err := queryValue[int](ctx, r.tx, `select count(*) from (select 1 from usage where summed = 0 and state <> 'reserved' limit cast($1 as bigint)) as rest`, limit)
	return n, err
}

// SumUsage adds up to limit settled ledger rows to the sums of days in zone, the
// oldest first, and returns their number. It must be the first call of its
// transaction.
func (w *Write) SumUsage(ctx context.Context, zone *time.Location, limit int) (n int, err error) {
	if err := w.tx.Lock(ctx, "usage_days"); err != nil {
		return 0, err
	}
	if foreign, err := hasForeignDays(ctx, w.tx, zone); err != nil {
		return 0, err
	} else if foreign {
		if err := forgetDays(ctx, w.tx); err != nil {
			return 0, err
		}
	}
	sums := map[usageDay]chela.UsageSum{}
	err = w.tx.Query(ctx, func(row engine.Row) error {
		n++
		return addToDays(sums, row, zone)
	}, `update usage set summed = 1 where summed = 0 and id in (
			select id from usage where summed = 0 and state <> 'reserved' order by created_at limit cast($1 as bigint))
		returning created_at, state, model, coalesce(session, ''), `+usageRoutine+`, purpose,
			input, output, cache_read, cache_write, reasoning, cost, guessed`, limit)
	if err != nil {
		return 0, err
	}
	for d, s := range sums {
		if err := addDay(ctx, w.tx, d, s); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// A usageDay identifies the sum of a day.
type usageDay struct {
	zone string
	kind chela.UsageBy
	day  int64
	name string
}

// addToDays adds a ledger row to the sums of its day. A released row took nothing.
func addToDays(sums map[usageDay]chela.UsageSum, row engine.Row, zone *time.Location) error {
	var at time.Time
	var state chela.UsageState
	var names [len(usageKinds)]string
	s := chela.UsageSum{Calls: 1}
	t, guessed := &s.Tokens, int64(0)
	err := row.Scan(&at, &state, &names[0], &names[1], &names[2], &names[3],
		&t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Reasoning, &s.Cost, &guessed)
	if err != nil || state == chela.UsageReleased {
		return err
	}
	if guessed != 0 {
		s.Guessed = s.Cost
	}
	for i, kind := range usageKinds {
		d := usageDay{zone.String(), kind, engine.Micros(dayOf(at, zone)), names[i]}
		sums[d] = sums[d].Plus(s)
	}
	return nil
}

func addDay(ctx context.Context, tx engine.Tx, d usageDay, s chela.UsageSum) error {
	t := s.Tokens
	return tx.Must(ctx, `insert into usage_days (zone, kind, day, name, calls, input, output, cache_read, cache_write, reasoning, cost, guessed)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		on conflict (zone, kind, day, name) do update set calls = usage_days.calls + excluded.calls,
			input = usage_days.input + excluded.input, output = usage_days.output + excluded.output,
			cache_read = usage_days.cache_read + excluded.cache_read, cache_write = usage_days.cache_write + excluded.cache_write,
			reasoning = usage_days.reasoning + excluded.reasoning, cost = usage_days.cost + excluded.cost,
			guessed = usage_days.guessed + excluded.guessed`,
		d.zone, d.kind, d.day, d.name, s.Calls, t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Reasoning, s.Cost, s.Guessed)
}

// forgetDays removes all sums, so that they are computed again.
func forgetDays(ctx context.Context, tx engine.Tx) error {
	if err := tx.Must(ctx, `delete from usage_days`); err != nil {
		return err
	}
	return tx.Must(ctx, `update usage set summed = 0 where summed = 1`)
}

// dayOf returns the beginning of the day of a time in a zone.
func dayOf(t time.Time, zone *time.Location) time.Time {
	y, m, d := t.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, zone)
}

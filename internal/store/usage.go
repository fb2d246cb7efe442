package store

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

const usageColumns = `id, coalesce(session, ''), coalesce(turn, ''), step, job, routine, model, purpose, state,
	input, output, cache_read, cache_write, reasoning, cost, guessed, node, created_at`

func scanUsage(row engine.Row) (u chela.Usage, err error) {
	n := &u.Tokens
	err = row.Scan(&u.ID, &u.Session, &u.Turn, &u.Step, &u.Job, &u.Routine, &u.Model, &u.Purpose, &u.State,
		&n.Input, &n.Output, &n.CacheRead, &n.CacheWrite, &n.Reasoning, &u.Cost, rows.Flag(&u.Guessed), &u.Node, rows.Time(&u.CreatedAt))
	return u, err
}

// sumTokens are the sums of a set of rows. What is reserved may never be spent.
const sumTokens = `cast(coalesce(sum(input), 0) as bigint), cast(coalesce(sum(output), 0) as bigint),
	cast(coalesce(sum(cache_read), 0) as bigint), cast(coalesce(sum(cache_write), 0) as bigint), cast(coalesce(sum(reasoning), 0) as bigint),
	cast(coalesce(sum(case when state <> 'reserved' then cost else 0 end), 0) as bigint),
	cast(coalesce(sum(case when state <> 'reserved' and guessed = 1 then cost else 0 end), 0) as bigint),
	cast(coalesce(sum(case when state = 'reserved' then cost else 0 end), 0) as bigint)`

// UsageSince returns what was spent since a time: by one session, or by all if
// key is empty.
func (r *Read) UsageSince(ctx context.Context, key chela.SessionKey, since time.Time) (chela.UsageSum, error) {
	which, args := `created_at >= $1`, []any{rows.Micros(since)}
	if key != "" { // a condition that could be either would use no index
		which, args = which+` and session = $2`, append(args, string(key))
	}
	sum, _, err := rows.First(ctx, r.tx, func(row engine.Row) (s chela.UsageSum, err error) {
		t := &s.Tokens
		err = row.Scan(&s.Calls, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Reasoning, &s.Cost, &s.Guessed, &s.Reserved)
		return s, err
	}, `select count(*), `+sumTokens+` from usage where `+which+` and state <> 'released'`, args...)
	return sum, err
}

// A UsagePart is what was spent within a quarter of an hour, or at all times, on
// one thing.
type UsagePart struct {
	At   time.Time // the beginning of the quarter; zones differ by those
	Name string    // of the model, session, routine or purpose
	Sum  chela.UsageSum
}

// usageNames are what the parts are named by.
var usageNames = map[chela.UsageBy]string{
	chela.UsageByDayModel: "model", chela.UsageByDay: "''", chela.UsageByModel: "model", chela.UsageBySession: "coalesce(session, '')",
	chela.UsageByRoutine: usageRoutine, chela.UsageByPurpose: "purpose",
}

// usageRoutine is the routine that runs, or whose run made the job, or the job that this
// is a part of.
const usageRoutine = `coalesce(nullif(usage.routine, ''),
	(select runs.routine from jobs join routine_runs runs on runs.id = jobs.run where jobs.id = usage.job),
	(select runs.routine from jobs parts join jobs on jobs.id = parts.parent join routine_runs runs on runs.id = jobs.run
		where parts.id = usage.job), '')`

// UsageParts returns what was spent since a time, part by part in any order.
func (r *Read) UsageParts(ctx context.Context, by chela.UsageBy, since time.Time) ([]UsagePart, error) {
	quarter := "0"
	if by == chela.UsageByDay || by == chela.UsageByDayModel {
		quarter = "created_at - created_at % 900000000"
	}
	return rows.All(ctx, r.tx, func(row engine.Row) (p UsagePart, err error) {
		t := &p.Sum.Tokens
		err = row.Scan(rows.Time(&p.At), &p.Name, &p.Sum.Calls, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Reasoning, &p.Sum.Cost, &p.Sum.Guessed, &p.Sum.Reserved)
		return p, err
	}, `select `+quarter+` as quarter, `+usageNames[by]+` as name, count(*), `+sumTokens+`
		from usage where created_at >= $1 and state <> 'released' group by quarter, name`, rows.Micros(since))
}

// TurnUsage returns the rows of the ledger that a turn caused, in order.
func (r *Read) TurnUsage(ctx context.Context, t chela.Turn) ([]chela.Usage, error) {
	return rows.All(ctx, r.tx, scanUsage, `select `+usageColumns+` from usage
		where session = $1 and created_at >= $2 and turn = $3 order by created_at, step`,
		string(t.Session), rows.Micros(t.CreatedAt), string(t.ID))
}

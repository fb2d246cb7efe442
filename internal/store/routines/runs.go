package routines

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

const runColumns = `id, routine, due_at, key, state, reason, waits_for, cause, cause_text, missed, session, thread, turn, job, report, result, notified,
	created_at, started_at, finished_at`

func scanRun(row engine.Row) (v chela.RoutineRun, err error) {
	err = row.Scan(&v.ID, &v.Routine, rows.Time(&v.Due), &v.Key, &v.State, &v.Reason, &v.Waits, &v.Cause, &v.Input, &v.Missed, &v.Session, &v.Thread,
		&v.Turn, &v.Job, rows.JSON(&v.Report), &v.Output, &v.Notified, rows.Time(&v.CreatedAt), rows.Time(&v.StartedAt), rows.Time(&v.FinishedAt))
	return v, err
}

// RoutineRun returns the run with the given id, or NotFound.
func (r Read) RoutineRun(ctx context.Context, id chela.RunID) (chela.RoutineRun, error) {
	return rows.One(ctx, r.tx, scanRun, "run", string(id), `select `+runColumns+` from routine_runs where id = $1`, string(id))
}

// RunByKey returns the run of a routine with a key, and whether there is one.
func (r Read) RunByKey(ctx context.Context, routine chela.RoutineID, key string) (chela.RoutineRun, bool, error) {
	return rows.First(ctx, r.tx, scanRun, `select `+runColumns+` from routine_runs where routine = $1 and key = $2`, string(routine), key)
}

// RoutineRuns returns up to limit runs of a routine that were made before the one
// that is given, the newest first; all if none is given.
func (r Read) RoutineRuns(ctx context.Context, routine chela.RoutineID, before chela.RunID, limit int) ([]chela.RoutineRun, error) {
	if before == "" {
		return rows.All(ctx, r.tx, scanRun, `select `+runColumns+` from routine_runs where routine = $1
			order by created_at desc, id desc limit cast($2 as bigint)`, string(routine), limit)
	}
	return rows.All(ctx, r.tx, scanRun, `select `+runColumns+` from routine_runs where routine = $1
		and (created_at, id) < (select created_at, id from routine_runs where id = $3)
		order by created_at desc, id desc limit cast($2 as bigint)`, string(routine), limit, string(before))
}

// PendingRuns returns up to limit runs that wait for a place, oldest first: of each
// routine the one that begins next.
func (r Read) PendingRuns(ctx context.Context, limit int) ([]chela.RoutineRun, error) {
	return rows.All(ctx, r.tx, scanRun, `select `+runColumns+` from routine_runs as next where state = 'pending' and not exists (
			select 1 from routine_runs as before where before.routine = next.routine and before.state = 'pending'
			and (before.due_at, before.created_at, before.id) < (next.due_at, next.created_at, next.id))
		order by created_at, due_at, id limit cast($1 as bigint)`, limit)
}

// NextRun returns the run of a routine that begins next: the one that was due first of
// those that wait for a place, if there are any.
func (r Read) NextRun(ctx context.Context, routine chela.RoutineID) (chela.RoutineRun, bool, error) {
	return rows.First(ctx, r.tx, scanRun, `select `+runColumns+` from routine_runs
		where routine = $1 and state = 'pending' order by due_at, created_at, id limit 1`, string(routine))
}

// RunningRuns returns for each routine that has some how many of its runs are
// running, and how many of all of them take a place, as they do not wait.
func (r Read) RunningRuns(ctx context.Context) (running map[chela.RoutineID]int, placed int, err error) {
	running = map[chela.RoutineID]int{}
	err = r.tx.Query(ctx, func(row engine.Row) error {
		var id chela.RoutineID
		var n, waits int
		err := row.Scan(&id, &n, &waits)
		running[id] = n
		placed += n - waits
		return err
	}, `select routine, count(*), count(case when waits_for <> '' then 1 end) from routine_runs where state = 'running' group by routine`)
	return running, placed, err
}

// RunsSince returns when the runs of a routine that were not skipped were made,
// after a time, the newest first, at most limit of them.
func (r Read) RunsSince(ctx context.Context, routine chela.RoutineID, since time.Time, limit int) ([]time.Time, error) {
	return rows.All(ctx, r.tx, func(row engine.Row) (t time.Time, err error) {
		err = row.Scan(rows.Time(&t))
		return t, err
	}, `select created_at from routine_runs where routine = $1 and created_at > $2 and state <> 'skipped'
		order by created_at desc limit cast($3 as bigint)`, string(routine), rows.Micros(since), limit)
}

// LastNotified returns what people were told last of a routine's runs and when
// that run ended, and whether they were told anything since a time.
func (r Read) LastNotified(ctx context.Context, routine chela.RoutineID, since time.Time) (chela.RoutineRun, bool, error) {
	return rows.First(ctx, r.tx, scanRun, `select `+runColumns+` from routine_runs
		where routine = $1 and created_at > $2 and notified <> '' order by created_at desc, id desc limit 1`, string(routine), rows.Micros(since))
}

// AddRun adds a run. It reports whether it did: a due time or cause fires once.
func (w Write) AddRun(ctx context.Context, v chela.RoutineRun) (bool, error) {
	n, err := w.tx.Exec(ctx, `insert into routine_runs (`+runColumns+`)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) on conflict (routine, key) do nothing`,
		string(v.ID), string(v.Routine), rows.Micros(v.Due), v.Key, string(v.State), v.Reason, v.Waits, string(v.Cause), v.Input, v.Missed,
		string(v.Session), string(v.Thread), string(v.Turn), string(v.Job), rows.Set(v.Report), v.Output, v.Notified,
		rows.Micros(v.CreatedAt), rows.Micros(v.StartedAt), rows.Micros(v.FinishedAt))
	return n == 1, err
}

// MoveRun stores what became of a run that was in the state from, but for what
// made it and for its report. It is a Conflict if somebody moved it meanwhile.
func (w Write) MoveRun(ctx context.Context, v chela.RoutineRun, from chela.RunState) error {
	if !from.CanMove(v.State) && (v.State != from || from.Ended()) {
		return rows.Illegal("run", string(v.ID), from, v.State)
	}
	return w.tx.Move(ctx, "run", string(v.ID), `update routine_runs set state = $3, reason = $4, session = $5, thread = $6, turn = $7, job = $8,
		result = $9, notified = $10, started_at = $11, finished_at = $12, waits_for = $13 where id = $1 and state = $2`,
		string(v.ID), string(from), string(v.State), v.Reason, string(v.Session), string(v.Thread), string(v.Turn), string(v.Job),
		v.Output, v.Notified, rows.Micros(v.StartedAt), rows.Micros(v.FinishedAt), v.Waits)
}

// ReportRun stores what a run that is running says of itself, instead of what it
// said before. It is a Conflict if the run is not running.
func (w Write) ReportRun(ctx context.Context, id chela.RunID, report chela.Report) error {
	return w.tx.Move(ctx, "run", string(id), `update routine_runs set report = $2 where id = $1 and state = 'running'`, string(id), rows.Text(report))
}

// PruneRuns forgets the runs of a routine that have ended, but for the newest keep
// runs and those that did something since a time, and returns how many it forgot. What
// was skipped counts among the newest, but does not stay for its time.
func (w Write) PruneRuns(ctx context.Context, routine chela.RoutineID, keep int, since time.Time) (int64, error) {
	return w.tx.Exec(ctx, `delete from routine_runs where routine = $1 and state in ('ok', 'failed', 'skipped')
		and (state = 'skipped' or created_at < $3) and id not in (
			select id from routine_runs where routine = $1 order by created_at desc, id desc limit cast($2 as bigint))`,
		string(routine), keep, rows.Micros(since))
}

// A Cause is something that makes a routine fire, seen at a time. It counts as the
// same one for as long as Within says.
type Cause struct {
	Routine chela.RoutineID
	Key     string
	At      time.Time
	Within  time.Duration
}

// SeeCause notes that a cause was seen. It reports whether it is fresh: it was not
// seen for a time.
func (w Write) SeeCause(ctx context.Context, c Cause) (bool, error) {
	n, err := w.tx.Exec(ctx, `insert into routine_causes (routine, cause, seen_at) values ($1, $2, $3)
		on conflict (routine, cause) do update set seen_at = excluded.seen_at where routine_causes.seen_at < $4`,
		string(c.Routine), c.Key, rows.Micros(c.At), rows.Micros(c.At.Add(-c.Within)))
	return n == 1, err
}

// ForgetCauses forgets up to 1,000 causes that were seen before a time, and returns
// how many it forgot.
func (w Write) ForgetCauses(ctx context.Context, before time.Time) (int64, error) {
	return w.tx.Exec(ctx, `delete from routine_causes where (routine, cause) in (
		select routine, cause from routine_causes where seen_at < $1 order by seen_at limit 1000)`, rows.Micros(before))
}

// WaitingRuns returns how many runs of a routine wait for a place; of all, if none is
// given.
func (r Read) WaitingRuns(ctx context.Context, routine chela.RoutineID) (n int, err error) {
	query, args := `select count(*) from routine_runs where state = 'pending'`, []any{}
	if routine != "" {
		query, args = query+` and routine = $1`, []any{string(routine)}
	}
	n, _, err = rows.First(ctx, r.tx, func(row engine.Row) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}, query, args...)
	return n, err
}

// RunsOn returns up to limit runs that are running and began before a time, oldest
// first.
func (r Read) RunsOn(ctx context.Context, before time.Time, limit int) ([]chela.RoutineRun, error) {
	return rows.All(ctx, r.tx, scanRun, `select `+runColumns+` from routine_runs
		where state = 'running' and started_at < $1 order by started_at, id limit cast($2 as bigint)`, rows.Micros(before), limit)
}

// LockRuns lets nobody else change any run until the transaction ends: whoever
// gives places away counts them first.
func (w Write) LockRuns(ctx context.Context) error { return w.tx.Lock(ctx, "routine_runs") }

// Package jobs keeps jobs, what happened to them and what they plan.
package jobs

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Read is a transaction as far as it reads jobs.
type Read struct{ tx rows.Tx }

// Reading returns a transaction as far as it reads jobs.
func Reading(tx rows.Tx) Read { return Read{tx} }

// A Write is a transaction as far as it writes jobs.
type Write struct{ tx rows.Tx }

// Writing returns a transaction as far as it writes jobs.
func Writing(tx rows.Tx) Write { return Write{tx} }

const jobColumns = `id, kind, key, session, thread, agent, title, text, label, state, reason, priority, options, requester, origin,
	parent, place, depth, run, attempt, messages, repairs, waits, turn, result,
	created_at, started_at, finished_at, announced_at, archive_at, archived_at`

func scanJob(row engine.Row) (j chela.Job, err error) {
	err = row.Scan(&j.ID, &j.Kind, &j.Key, &j.Session, &j.Thread, &j.Agent, &j.Title, &j.Text, &j.Label, &j.State, &j.Reason, &j.Priority,
		rows.JSON(&j.Options), &j.Requester, rows.JSON(&j.Origin),
		&j.Parent, &j.Place, &j.Depth, &j.Run, &j.Attempt, &j.Messages, &j.Repairs, &j.Waits, &j.Turn, &j.Result,
		rows.Time(&j.CreatedAt), rows.Time(&j.StartedAt), rows.Time(&j.FinishedAt), rows.Time(&j.AnnouncedAt),
		rows.Time(&j.ArchiveAt), rows.Time(&j.ArchivedAt))
	return j, err
}

// Job returns the job with the given id, or NotFound.
func (r Read) Job(ctx context.Context, id chela.JobID) (chela.Job, error) {
	return rows.One(ctx, r.tx, scanJob, "job", string(id), `select `+jobColumns+` from jobs where id = $1`, string(id))
}

// JobByKey returns the job that a request made, and whether there is one.
func (r Read) JobByKey(ctx context.Context, key string) (chela.Job, bool, error) {
	return rows.First(ctx, r.tx, scanJob, `select `+jobColumns+` from jobs where key = $1`, key)
}

// JobIn returns the job whose session it is, and whether there is one.
func (r Read) JobIn(ctx context.Context, session chela.SessionKey) (chela.Job, bool, error) {
	return rows.First(ctx, r.tx, scanJob, `select `+jobColumns+` from jobs where session = $1`, string(session))
}

// AddJob adds a job. A key or a session that another job has is a Conflict.
func (w Write) AddJob(ctx context.Context, j chela.Job) error {
	return w.tx.Must(ctx, `insert into jobs (`+jobColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
		$16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31)`,
		string(j.ID), string(j.Kind), j.Key, string(j.Session), string(j.Thread), j.Agent, j.Title, j.Text, j.Label, string(j.State), j.Reason,
		j.Priority, rows.Set(j.Options), string(j.Requester), rows.Set(j.Origin),
		string(j.Parent), j.Place, j.Depth, string(j.Run), j.Attempt, j.Messages, j.Repairs, j.Waits, string(j.Turn), j.Result,
		rows.Micros(j.CreatedAt), rows.Micros(j.StartedAt), rows.Micros(j.FinishedAt), rows.Micros(j.AnnouncedAt),
		rows.Micros(j.ArchiveAt), rows.Micros(j.ArchivedAt))
}

// LockJob returns a job that nobody else changes until the transaction ends, or
// NotFound. Who locks several locks a job before those that it asked for.
func (w Write) LockJob(ctx context.Context, id chela.JobID) (chela.Job, error) {
	return rows.One(ctx, w.tx, scanJob, "job", string(id), `update jobs set state = state where id = $1 returning `+jobColumns, string(id))
}

// LockPlaces lets nobody else change any job until the transaction ends: whoever
// gives places away counts them first.
func (w Write) LockPlaces(ctx context.Context) error { return w.tx.Lock(ctx, "jobs") }

// MoveJob stores what became of a job that was in the state from, which may be the
// state that it is in. What the job was when it was made is not stored again, but for its
// options.
func (w Write) MoveJob(ctx context.Context, j chela.Job, from chela.JobState) error {
	if j.State != from && !from.CanMove(j.State) {
		return rows.Illegal("job", string(j.ID), from, j.State)
	}
	return w.tx.Move(ctx, "job", string(j.ID), `update jobs set state = $3, reason = $4, thread = $5, priority = $6, attempt = $7, messages = $8,
		repairs = $9, waits = $10, turn = $11, result = $12, started_at = $13, finished_at = $14, announced_at = $15, archive_at = $16,
		archived_at = $17, options = $18 where id = $1 and state = $2`,
		string(j.ID), string(from), string(j.State), j.Reason, string(j.Thread), j.Priority, j.Attempt, j.Messages,
		j.Repairs, j.Waits, string(j.Turn), j.Result, rows.Micros(j.StartedAt), rows.Micros(j.FinishedAt), rows.Micros(j.AnnouncedAt),
		rows.Micros(j.ArchiveAt), rows.Micros(j.ArchivedAt), rows.Set(j.Options))
}

// ArchivedJob stores that the session of a job has left the lists.
func (w Write) ArchivedJob(ctx context.Context, id chela.JobID, at time.Time) error {
	return w.tx.Move(ctx, "job", string(id), `update jobs set archived_at = $2 where id = $1`, string(id), rows.Micros(at))
}

package store

// Jobs, their stories and their plans.

import (
	"context"
	"time"

	"chela"
	"chela/internal/store/engine"
)

const jobColumns = `id, kind, key, session, thread, agent, title, text, label, state, reason, priority, options, requester, origin,
	parent, place, depth, run, attempt, messages, repairs, waits, turn, result,
	created_at, started_at, finished_at, announced_at, archive_at, archived_at`

func scanJob(row engine.Row) (j chela.Job, err error) {
	err = row.Scan(&j.ID, &j.Kind, &j.Key, &j.Session, &j.Thread, &j.Agent, &j.Title, &j.Text, &j.Label, &j.State, &j.Reason, &j.Priority,
		scanJSON(&j.Options), &j.Requester, scanJSON(&j.Origin),
		&j.Parent, &j.Place, &j.Depth, &j.Run, &j.Attempt, &j.Messages, &j.Repairs, &j.Waits, &j.Turn, &j.Result,
		scanTime(&j.CreatedAt), scanTime(&j.StartedAt), scanTime(&j.FinishedAt), scanTime(&j.AnnouncedAt),
		scanTime(&j.ArchiveAt), scanTime(&j.ArchivedAt))
	return j, err
}

// Job returns the job with the given id, or NotFound.
func (r *Read) Job(ctx context.Context, id chela.JobID) (chela.Job, error) {
	return queryOne(ctx, r.tx, scanJob, "job", string(id), `select `+jobColumns+` from jobs where id = $1`, string(id))
}

// JobByKey returns the job that a request created, and whether there is one.
func (r *Read) JobByKey(ctx context.Context, key string) (chela.Job, bool, error) {
	return queryFirst(ctx, r.tx, scanJob, `select `+jobColumns+` from jobs where key = $1`, key)
}

// JobIn returns the job of a session, and whether there is one.
func (r *Read) JobIn(ctx context.Context, session chela.SessionKey) (chela.Job, bool, error) {
	return queryFirst(ctx, r.tx, scanJob, `select `+jobColumns+` from jobs where session = $1`, string(session))
}

// AddJob adds a job. It returns Conflict if another job has its key or session.
func (w *Write) AddJob(ctx context.Context, j chela.Job) error {
	return w.tx.Must(ctx, `insert into jobs (`+jobColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
		$16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31)`,
		string(j.ID), string(j.Kind), j.Key, string(j.Session), string(j.Thread), j.Agent, j.Title, j.Text, j.Label, string(j.State), j.Reason,
		j.Priority, jsonIfSet(j.Options), string(j.Requester), jsonIfSet(j.Origin),
		string(j.Parent), j.Place, j.Depth, string(j.Run), j.Attempt, j.Messages, j.Repairs, j.Waits, string(j.Turn), j.Result,
		micros(j.CreatedAt), micros(j.StartedAt), micros(j.FinishedAt), micros(j.AnnouncedAt),
		micros(j.ArchiveAt), micros(j.ArchivedAt))
}

// LockJob locks a job until the transaction ends and returns it, or NotFound.
// Locks of several jobs are taken parent first.
func (w *Write) LockJob(ctx context.Context, id chela.JobID) (chela.Job, error) {
	return queryOne(ctx, w.tx, scanJob, "job", string(id), `update jobs set state = state where id = $1 returning `+jobColumns, string(id))
}

// LockPlaces locks all jobs until the transaction ends, for the assignment of
// slots, which counts them first.
func (w *Write) LockPlaces(ctx context.Context) error { return w.tx.Lock(ctx, "jobs") }

// MoveJob stores the mutable fields and the options of a job that was in the
// state from, which may be its present state.
func (w *Write) MoveJob(ctx context.Context, j chela.Job, from chela.JobState) error {
	if j.State != from && !from.CanMove(j.State) {
		return illegalMove("job", string(j.ID), from, j.State)
	}
	return w.tx.Move(ctx, "job", string(j.ID), `update jobs set state = $3, reason = $4, thread = $5, priority = $6, attempt = $7, messages = $8,
		repairs = $9, waits = $10, turn = $11, result = $12, started_at = $13, finished_at = $14, announced_at = $15, archive_at = $16,
		archived_at = $17, options = $18 where id = $1 and state = $2`,
		string(j.ID), string(from), string(j.State), j.Reason, string(j.Thread), j.Priority, j.Attempt, j.Messages,
		j.Repairs, j.Waits, string(j.Turn), j.Result, micros(j.StartedAt), micros(j.FinishedAt), micros(j.AnnouncedAt),
		micros(j.ArchiveAt), micros(j.ArchivedAt), jsonIfSet(j.Options))
}

// ArchivedJob records that the session of a job was removed from the lists.
func (w *Write) ArchivedJob(ctx context.Context, id chela.JobID, at time.Time) error {
	return w.tx.Move(ctx, "job", string(id), `update jobs set archived_at = $2 where id = $1`, string(id), micros(at))
}

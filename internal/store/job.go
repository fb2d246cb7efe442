package store

// Jobs, their stories and their plans.

import (
	"context"
	"time"

	"chela"
)

var jobTable = tableOf("jobs", func(j *chela.Job) []column {
	return []column{
		{"id", &j.ID},
		{"kind", &j.Kind},
		{"key", &j.Key},
		{"session", &j.Session},
		{"thread", &j.Thread},
		{"agent", &j.Agent},
		{"title", &j.Title},
		{"text", &j.Text},
		{"label", &j.Label},
		{"state", &j.State},
		{"reason", &j.Reason},
		{"priority", &j.Priority},
		{"options", optionalJSON(&j.Options)},
		{"requester", &j.Requester},
		{"origin", optionalJSON(&j.Origin)},
		{"parent", &j.Parent},
		{"place", &j.Place},
		{"depth", &j.Depth},
		{"run", &j.Run},
		{"attempt", &j.Attempt},
		{"messages", &j.Messages},
		{"repairs", &j.Repairs},
		{"waits", &j.Waits},
		{"turn", &j.Turn},
		{"result", &j.Result},
		{"created_at", &j.CreatedAt},
		{"started_at", &j.StartedAt},
		{"finished_at", &j.FinishedAt},
		{"announced_at", &j.AnnouncedAt},
		{"archive_at", &j.ArchiveAt},
		{"archived_at", &j.ArchivedAt},
	}
})

// Job returns the job with the given id, or NotFound.
func (r *Read) Job(ctx context.Context, id chela.JobID) (chela.Job, error) {
	return queryOne(ctx, r.tx, jobTable.scan, "job", string(id), `select `+jobTable.columns+` from jobs where id = $1`, string(id))
}

// JobByKey returns the job that a request created, and whether there is one.
func (r *Read) JobByKey(ctx context.Context, key string) (chela.Job, bool, error) {
	return queryFirst(ctx, r.tx, jobTable.scan, `select `+jobTable.columns+` from jobs where key = $1`, key)
}

// JobIn returns the job of a session, and whether there is one.
func (r *Read) JobIn(ctx context.Context, session chela.SessionKey) (chela.Job, bool, error) {
	return queryFirst(ctx, r.tx, jobTable.scan, `select `+jobTable.columns+` from jobs where session = $1`, string(session))
}

// AddJob adds a job. It returns Conflict if another job has its key or session.
func (w *Write) AddJob(ctx context.Context, j chela.Job) error {
	return w.tx.Must(ctx, jobTable.insert, jobTable.args(j)...)
}

// LockJob locks a job until the transaction ends and returns it, or NotFound.
// Locks of several jobs are taken parent first.
func (w *Write) LockJob(ctx context.Context, id chela.JobID) (chela.Job, error) {
	return queryOne(ctx, w.tx, jobTable.scan, "job", string(id), `update jobs set state = state where id = $1 returning `+jobTable.columns, string(id))
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
		micros(j.ArchiveAt), micros(j.ArchivedAt), optionalJSON(&j.Options).stored())
}

// ArchivedJob records that the session of a job was removed from the lists.
func (w *Write) ArchivedJob(ctx context.Context, id chela.JobID, at time.Time) error {
	return w.tx.Move(ctx, "job", string(id), `update jobs set archived_at = $2 where id = $1`, string(id), micros(at))
}

package store

// Jobs, their stories and their plans.

import (
	"context"
	"time"

	"chela"
)

var jobTable = tableOf[chela.Job]("job", "jobs", `
	id kind key session thread agent title text label state reason priority options? requester
	origin? parent place depth run attempt messages repairs waits turn result created_at started_at
	finished_at announced_at archive_at archived_at`)

// Job returns the job with the given id, or NotFound.
func (r *Read) Job(ctx context.Context, id chela.JobID) (chela.Job, error) {
	return jobTable.get(ctx, r.tx, id)
}

// JobByKey returns the job that a request created, and whether there is one.
func (r *Read) JobByKey(ctx context.Context, key string) (chela.Job, bool, error) {
	return jobTable.first(ctx, r.tx, `where key = $1`, key)
}

// JobIn returns the job of a session, and whether there is one.
func (r *Read) JobIn(ctx context.Context, session chela.SessionKey) (chela.Job, bool, error) {
	return jobTable.first(ctx, r.tx, `where session = $1`, session)
}

// AddJob adds a job. It returns Conflict if another job has its key or session.
func (w *Write) AddJob(ctx context.Context, j chela.Job) error {
	return jobTable.add(ctx, w.tx, j)
}

// LockJob locks a job until the transaction ends and returns it, or NotFound.
// Locks of several jobs are taken parent first.
func (w *Write) LockJob(ctx context.Context, id chela.JobID) (chela.Job, error) {
	return jobTable.lock(ctx, w.tx, id, "state")
}

// LockPlaces locks all jobs until the transaction ends, for the assignment of
// slots, which counts them first.
func (w *Write) LockPlaces(ctx context.Context) error { return w.tx.Lock(ctx, "jobs") }

var moveJob = jobTable.update(`state reason thread priority attempt messages repairs waits turn result
	started_at finished_at announced_at archive_at archived_at options`, "id = $1 and state = $2")

// MoveJob stores the mutable fields and the options of a job that was in the
// state from, which may be its present state.
func (w *Write) MoveJob(ctx context.Context, j chela.Job, from chela.JobState) error {
	if j.State != from && !from.CanMove(j.State) {
		return illegalMove("job", j.ID, from, j.State)
	}
	return moveJob.move(ctx, w.tx, j, j.ID, from)
}

// ArchivedJob records that the session of a job was removed from the lists.
func (w *Write) ArchivedJob(ctx context.Context, id chela.JobID, at time.Time) error {
	return w.tx.Move(ctx, "job", id, `update jobs set archived_at = $2 where id = $1`, id, at)
}

package store

import (
	"context"

	"chela"
	"chela/internal/store/engine"
)

const checkpointColumns = `session, thread, name, entry, key, created_at`

func scanCheckpoint(row engine.Row) (c chela.Checkpoint, err error) {
	err = row.Scan(&c.Session, &c.Thread, &c.Name, &c.Entry, &c.Key, scanTime(&c.CreatedAt))
	return c, err
}

// Checkpoint returns the checkpoint of a thread by name, or NotFound.
func (r *Read) Checkpoint(ctx context.Context, thread chela.ThreadID, name string) (chela.Checkpoint, error) {
	return queryOne(ctx, r.tx, scanCheckpoint, "checkpoint", name,
		`select `+checkpointColumns+` from checkpoints where thread = $1 and name = $2`, string(thread), name)
}

// CheckpointByKey returns the checkpoint that a request of a session created,
// and whether there is one.
func (r *Read) CheckpointByKey(ctx context.Context, session chela.SessionKey, key string) (chela.Checkpoint, bool, error) {
	return queryFirst(ctx, r.tx, scanCheckpoint,
		`select `+checkpointColumns+` from checkpoints where session = $1 and key = $2 and key <> ''`, string(session), key)
}

// Checkpoints returns the checkpoints of a thread, oldest first.
func (r *Read) Checkpoints(ctx context.Context, thread chela.ThreadID) ([]chela.Checkpoint, error) {
	return queryAll(ctx, r.tx, scanCheckpoint,
		`select `+checkpointColumns+` from checkpoints where thread = $1 order by created_at, name`, string(thread))
}

// AddCheckpoint adds a checkpoint. It returns Conflict if the name exists in
// the thread, or the key in the session.
func (w *Write) AddCheckpoint(ctx context.Context, c chela.Checkpoint) error {
	return w.tx.Must(ctx, `insert into checkpoints (`+checkpointColumns+`) values ($1, $2, $3, $4, $5, $6)`,
		string(c.Session), string(c.Thread), c.Name, string(c.Entry), c.Key, micros(c.CreatedAt))
}

const branchColumns = `session, thread, origin, entry, key, created_at`

func scanBranch(row engine.Row) (b chela.Branch, err error) {
	err = row.Scan(&b.Session, &b.Thread, &b.Origin, &b.Entry, &b.Key, scanTime(&b.CreatedAt))
	return b, err
}

// BranchByKey returns the branch that a request of a session created, and
// whether there is one.
func (r *Read) BranchByKey(ctx context.Context, session chela.SessionKey, key string) (chela.Branch, bool, error) {
	return queryFirst(ctx, r.tx, scanBranch,
		`select `+branchColumns+` from branches where session = $1 and key = $2 and key <> ''`, string(session), key)
}

// BranchOf returns the branch that created a thread, and whether there is one.
func (r *Read) BranchOf(ctx context.Context, thread chela.ThreadID) (chela.Branch, bool, error) {
	return queryFirst(ctx, r.tx, scanBranch, `select `+branchColumns+` from branches where thread = $1`, string(thread))
}

// Branches returns the branches that begin in a thread, and the branch that
// created it, oldest first.
func (r *Read) Branches(ctx context.Context, thread chela.ThreadID) ([]chela.Branch, error) {
	return queryAll(ctx, r.tx, scanBranch, `select `+branchColumns+` from branches
		where origin = $1 or thread = $1 order by created_at, thread`, string(thread))
}

// AddBranch adds the branch of a thread. It returns Conflict if the thread has
// one, or if the key exists in the session.
func (w *Write) AddBranch(ctx context.Context, b chela.Branch) error {
	return w.tx.Must(ctx, `insert into branches (`+branchColumns+`) values ($1, $2, $3, $4, $5, $6)`,
		string(b.Session), string(b.Thread), string(b.Origin), string(b.Entry), b.Key, micros(b.CreatedAt))
}

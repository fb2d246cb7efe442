package rewinds

import (
	"context"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

const checkpointColumns = `session, thread, name, entry, key, created_at`

func scanCheckpoint(row engine.Row) (c chela.Checkpoint, err error) {
	err = row.Scan(&c.Session, &c.Thread, &c.Name, &c.Entry, &c.Key, rows.Time(&c.CreatedAt))
	return c, err
}

// Checkpoint returns the checkpoint of a thread that has a name, or NotFound.
func (r Read) Checkpoint(ctx context.Context, thread chela.ThreadID, name string) (chela.Checkpoint, error) {
	return rows.One(ctx, r.tx, scanCheckpoint, "checkpoint", name,
		`select `+checkpointColumns+` from checkpoints where thread = $1 and name = $2`, string(thread), name)
}

// CheckpointByKey returns the checkpoint that a request of a session made, and
// whether there is one.
func (r Read) CheckpointByKey(ctx context.Context, session chela.SessionKey, key string) (chela.Checkpoint, bool, error) {
	return rows.First(ctx, r.tx, scanCheckpoint,
		`select `+checkpointColumns+` from checkpoints where session = $1 and key = $2 and key <> ''`, string(session), key)
}

// Checkpoints returns the checkpoints of a thread, oldest first.
func (r Read) Checkpoints(ctx context.Context, thread chela.ThreadID) ([]chela.Checkpoint, error) {
	return rows.All(ctx, r.tx, scanCheckpoint,
		`select `+checkpointColumns+` from checkpoints where thread = $1 order by created_at, name`, string(thread))
}

// AddCheckpoint adds a checkpoint. A name that the thread has already, or a key
// that the session has, is a Conflict.
func (w Write) AddCheckpoint(ctx context.Context, c chela.Checkpoint) error {
	return w.tx.Must(ctx, `insert into checkpoints (`+checkpointColumns+`) values ($1, $2, $3, $4, $5, $6)`,
		string(c.Session), string(c.Thread), c.Name, string(c.Entry), c.Key, rows.Micros(c.CreatedAt))
}

const branchColumns = `session, thread, origin, entry, key, created_at`

func scanBranch(row engine.Row) (b chela.Branch, err error) {
	err = row.Scan(&b.Session, &b.Thread, &b.Origin, &b.Entry, &b.Key, rows.Time(&b.CreatedAt))
	return b, err
}

// BranchByKey returns the branch that a request of a session made, and whether
// there is one.
func (r Read) BranchByKey(ctx context.Context, session chela.SessionKey, key string) (chela.Branch, bool, error) {
	return rows.First(ctx, r.tx, scanBranch,
		`select `+branchColumns+` from branches where session = $1 and key = $2 and key <> ''`, string(session), key)
}

// BranchOf returns where a thread branched off, and whether it did.
func (r Read) BranchOf(ctx context.Context, thread chela.ThreadID) (chela.Branch, bool, error) {
	return rows.First(ctx, r.tx, scanBranch, `select `+branchColumns+` from branches where thread = $1`, string(thread))
}

// Branches returns the branches that begin in a thread, and the one by which it
// began itself, oldest first.
func (r Read) Branches(ctx context.Context, thread chela.ThreadID) ([]chela.Branch, error) {
	return rows.All(ctx, r.tx, scanBranch, `select `+branchColumns+` from branches
		where origin = $1 or thread = $1 order by created_at, thread`, string(thread))
}

// AddBranch adds where a thread begins. A thread that has a branch already, or
// a key that the session has, is a Conflict.
func (w Write) AddBranch(ctx context.Context, b chela.Branch) error {
	return w.tx.Must(ctx, `insert into branches (`+branchColumns+`) values ($1, $2, $3, $4, $5, $6)`,
		string(b.Session), string(b.Thread), string(b.Origin), string(b.Entry), b.Key, rows.Micros(b.CreatedAt))
}

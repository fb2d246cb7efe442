package store

import (
	"context"

	"chela"
)

var checkpointTable = tableOf("checkpoints", func(c *chela.Checkpoint) []column {
	return []column{
		{"session", &c.Session},
		{"thread", &c.Thread},
		{"name", &c.Name},
		{"entry", &c.Entry},
		{"key", &c.Key},
		{"created_at", &c.CreatedAt},
	}
})

// Checkpoint returns the checkpoint of a thread by name, or NotFound.
func (r *Read) Checkpoint(ctx context.Context, thread chela.ThreadID, name string) (chela.Checkpoint, error) {
	return queryOne(ctx, r.tx, checkpointTable.scan, "checkpoint", name,
		`select `+checkpointTable.columns+` from checkpoints where thread = $1 and name = $2`, string(thread), name)
}

// CheckpointByKey returns the checkpoint that a request of a session created,
// and whether there is one.
func (r *Read) CheckpointByKey(ctx context.Context, session chela.SessionKey, key string) (chela.Checkpoint, bool, error) {
	return queryFirst(ctx, r.tx, checkpointTable.scan,
		`select `+checkpointTable.columns+` from checkpoints where session = $1 and key = $2 and key <> ''`, string(session), key)
}

// Checkpoints returns the checkpoints of a thread, oldest first.
func (r *Read) Checkpoints(ctx context.Context, thread chela.ThreadID) ([]chela.Checkpoint, error) {
	return queryAll(ctx, r.tx, checkpointTable.scan,
		`select `+checkpointTable.columns+` from checkpoints where thread = $1 order by created_at, name`, string(thread))
}

// AddCheckpoint adds a checkpoint. It returns Conflict if the name exists in
// the thread, or the key in the session.
func (w *Write) AddCheckpoint(ctx context.Context, c chela.Checkpoint) error {
	return w.tx.Must(ctx, checkpointTable.insert, checkpointTable.args(c)...)
}

var branchTable = tableOf("branches", func(b *chela.Branch) []column {
	return []column{
		{"session", &b.Session},
		{"thread", &b.Thread},
		{"origin", &b.Origin},
		{"entry", &b.Entry},
		{"key", &b.Key},
		{"created_at", &b.CreatedAt},
	}
})

// BranchByKey returns the branch that a request of a session created, and
// whether there is one.
func (r *Read) BranchByKey(ctx context.Context, session chela.SessionKey, key string) (chela.Branch, bool, error) {
	return queryFirst(ctx, r.tx, branchTable.scan,
		`select `+branchTable.columns+` from branches where session = $1 and key = $2 and key <> ''`, string(session), key)
}

// BranchOf returns the branch that created a thread, and whether there is one.
func (r *Read) BranchOf(ctx context.Context, thread chela.ThreadID) (chela.Branch, bool, error) {
	return queryFirst(ctx, r.tx, branchTable.scan, `select `+branchTable.columns+` from branches where thread = $1`, string(thread))
}

// Branches returns the branches that begin in a thread, and the branch that
// created it, oldest first.
func (r *Read) Branches(ctx context.Context, thread chela.ThreadID) ([]chela.Branch, error) {
	return queryAll(ctx, r.tx, branchTable.scan, `select `+branchTable.columns+` from branches
		where origin = $1 or thread = $1 order by created_at, thread`, string(thread))
}

// AddBranch adds the branch of a thread. It returns Conflict if the thread has
// one, or if the key exists in the session.
func (w *Write) AddBranch(ctx context.Context, b chela.Branch) error {
	return w.tx.Must(ctx, branchTable.insert, branchTable.args(b)...)
}

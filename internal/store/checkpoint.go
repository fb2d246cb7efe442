package store

import (
	"context"

	"chela"
)

var checkpointTable = tableOf[chela.Checkpoint]("checkpoint", "checkpoints", `session thread name entry key created_at`)

// Checkpoint returns the checkpoint of a thread by name, or NotFound.
func (r *Read) Checkpoint(ctx context.Context, thread chela.ThreadID, name string) (chela.Checkpoint, error) {
	return checkpointTable.one(ctx, r.tx, name, checkpointTable.selects+`where thread = $1 and name = $2`, thread, name)
}

// CheckpointByKey returns the checkpoint that a request of a session created,
// and whether there is one.
func (r *Read) CheckpointByKey(ctx context.Context, session chela.SessionKey, key string) (chela.Checkpoint, bool, error) {
	return checkpointTable.first(ctx, r.tx, `where session = $1 and key = $2 and key <> ''`, session, key)
}

// Checkpoints returns the checkpoints of a thread, oldest first.
func (r *Read) Checkpoints(ctx context.Context, thread chela.ThreadID) ([]chela.Checkpoint, error) {
	return checkpointTable.all(ctx, r.tx, `where thread = $1 order by created_at, name`, thread)
}

// AddCheckpoint adds a checkpoint. It returns Conflict if the name exists in
// the thread, or the key in the session.
func (w *Write) AddCheckpoint(ctx context.Context, c chela.Checkpoint) error {
	return checkpointTable.add(ctx, w.tx, c)
}

var branchTable = tableOf[chela.Branch]("branch", "branches", `session thread origin entry key created_at`)

// BranchByKey returns the branch that a request of a session created, and
// whether there is one.
func (r *Read) BranchByKey(ctx context.Context, session chela.SessionKey, key string) (chela.Branch, bool, error) {
	return branchTable.first(ctx, r.tx, `where session = $1 and key = $2 and key <> ''`, session, key)
}

// BranchOf returns the branch that created a thread, and whether there is one.
func (r *Read) BranchOf(ctx context.Context, thread chela.ThreadID) (chela.Branch, bool, error) {
	return branchTable.first(ctx, r.tx, `where thread = $1`, thread)
}

// Branches returns the branches that begin in a thread, and the branch that
// created it, oldest first.
func (r *Read) Branches(ctx context.Context, thread chela.ThreadID) ([]chela.Branch, error) {
	return branchTable.all(ctx, r.tx, `where origin = $1 or thread = $1 order by created_at, thread`, thread)
}

// AddBranch adds the branch of a thread. It returns Conflict if the thread has
// one, or if the key exists in the session.
func (w *Write) AddBranch(ctx context.Context, b chela.Branch) error {
	return branchTable.add(ctx, w.tx, b)
}

package rewind

import (
	"cmp"
	"context"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// Operations binds the operations on the trees of threads.
func (m *Rewinds) Operations() []api.Bound {
	move := func(kind chela.RewindKind) func(context.Context, api.Caller, api.ThreadMove) (chela.Rewind, error) {
		return func(ctx context.Context, c api.Caller, q api.ThreadMove) (chela.Rewind, error) {
			q.To.Key, q.To.Turns = c.KeyOf(q.To.Key), cmp.Or(q.To.Turns, 1)
			v, err := m.Rewind(ctx, q.ID, kind, q.To)
			if err == nil {
				err = m.store.Read(ctx, func(r *store.Read) error { return describe(ctx, r, &v) })
			}
			return v, err
		}
	}
	return []api.Bound{
		api.ThreadsShow.Do(m.show),
		api.ThreadsUndo.Do(move(chela.RewindUndo)),
		api.ThreadsRedo.Do(move(chela.RewindRedo)),
		api.ThreadsRestore.Do(move(chela.RewindRestore)),
		api.ThreadsCheckpoint.Do(func(ctx context.Context, c api.Caller, q api.CheckpointRequest) (chela.Checkpoint, error) {
			q.Checkpoint.Key = c.KeyOf(q.Checkpoint.Key)
			return m.Checkpoint(ctx, q.ID, q.Checkpoint)
		}),
		api.ThreadsBranch.Do(func(ctx context.Context, c api.Caller, q api.BranchRequest) (chela.Thread, error) {
			q.Branch.Key = c.KeyOf(q.Branch.Key)
			return m.Branch(ctx, q.ID, q.Branch)
		}),
	}
}

func (m *Rewinds) show(ctx context.Context, _ api.Caller, q api.ThreadRef) (api.Thread, error) {
	t, err := store.Get(ctx, m.store, (*store.Read).Thread, q.ID)
	if err != nil {
		return api.Thread{}, err
	}
	places, err := m.Places(ctx, q.ID)
	return api.Thread{Thread: t, Places: places}, err
}

package app

import (
	"context"

	"chela"
	"chela/internal/engine/rewind"
)

// mover returns the mover of thread heads.
func (a *App) mover(tools []chela.Tool) *rewind.Rewinds {
	return rewind.New(a.store, rewind.Config{
		Process:   a.process(a.bus.Emit),
		Workspace: a.folders.Locate, Documents: a.memory, Bytes: a.blobs.Bytes,
		Tools: tools, Lanes: a.lanes, Wait: func(ctx context.Context, id chela.TurnID) error { return a.ingress.UntilEnded(ctx, id) },
	})
}

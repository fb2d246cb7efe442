package app

import (
	"context"

	"chela"
	"chela/internal/engine/rewind"
)

// mover returns the mover of thread heads.
func (a *App) mover(tools []chela.Tool) *rewind.Rewinds {
	return rewind.New(a.store, rewind.Config{
		Node: a.node, IDs: a.ids, Now: a.now, Emit: a.bus.Emit, Log: a.log,
		Workspace: a.workspace, Documents: a.memory, Bytes: a.blobs.Bytes,
		Tools: tools, Stop: a.lanes.Stop, Wait: func(ctx context.Context, id chela.TurnID) error { return a.ingress.UntilEnded(ctx, id) }, Wake: a.lanes.Wake, Dead: a.presence.Dead, Alive: a.presence.Alive,
	})
}

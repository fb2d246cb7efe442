package app

import (
	"context"

	"chela"
	"chela/internal/gateway/rewinds"
	"chela/internal/rewind"
)

// mover returns what moves the heads of threads.
func (a *App) mover(tools []chela.Tool) *rewind.Mover {
	return rewind.New(a.store, rewind.Config{
		Node: a.node, IDs: a.ids, Now: a.now, Emit: a.bus.Emit, Log: a.log,
		Workspace: a.workspace, Documents: a.memory, Bytes: a.blobs.Bytes,
		Tools: tools, Stop: a.lanes.Stop, Wait: func(ctx context.Context, id chela.TurnID) error { return a.door.UntilEnded(ctx, id) }, Wake: a.lanes.Wake, Dead: a.presence.Dead, Alive: a.presence.Alive,
	})
}

// rewindRoutes is a mover as the gateway serves it.
func rewindRoutes(m *rewind.Mover) rewinds.Home {
	return rewinds.Home{Rewind: m.Rewind, Checkpoint: m.Checkpoint, Branch: m.Branch, Places: m.Places}
}

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
		Tools: tools, Stop: a.lanes.Stop, Wait: a.untilEnded, Wake: a.lanes.Wake, Dead: a.presence.Dead, Alive: a.presence.Alive,
	})
}

// rewindRoutes is a mover as the gateway serves it.
func rewindRoutes(m *rewind.Mover) rewinds.Home {
	return rewinds.Home{Rewind: m.Rewind, Checkpoint: m.Checkpoint, Branch: m.Branch, Places: m.Places}
}

// workspace returns the folder of an agent's files.
func (a *App) workspace(agent string) (string, error) { return a.cfg.Home.Workspace(agent), nil }

// untilEnded waits until a turn that was asked to stop has ended. One that was about
// to wait for a person in that moment is asked again.
func (a *App) untilEnded(ctx context.Context, id chela.TurnID) error {
	b := &backend{a}
	for {
		t, err := b.Follow(ctx, id, func(chela.Event) {})
		if err != nil || t.State.Ended() {
			return err
		}
		if err := a.lanes.Stop(ctx, id); err != nil && chela.KindOf(err) != chela.Conflict {
			return err
		}
	}
}

package app

import (
	"context"

	"chela"
	"chela/internal/gateway/rewinds"
	"chela/internal/rewind"
	"chela/internal/tool/file"
)

// mover returns what moves the heads of threads.
func (a *App) mover(tools []chela.Tool) *rewind.Mover {
	return rewind.New(a.store, rewind.Config{
		Node: a.node, IDs: a.ids, Now: a.now, Emit: a.bus.Emit, Log: a.log,
		Workspace: a.workspace, Documents: a.memory, Bytes: a.blobs.Bytes,
		Preview: func(c chela.ToolCall) string { return preview(tools, c) },
		Stop:    a.lanes.Stop, Wait: a.untilEnded, Wake: a.lanes.Wake, Dead: a.presence.Dead, Alive: a.presence.Alive,
	})
}

// rewindRoutes is a mover as the gateway serves it.
func rewindRoutes(m *rewind.Mover) rewinds.Home {
	return rewinds.Home{Rewind: m.Rewind, Checkpoint: m.Checkpoint, Branch: m.Branch, Places: m.Places}
}

// workspace returns the folder of an agent's files.
func (a *App) workspace(agent string) (string, error) { return a.cfg.Home.Workspace(agent), nil }

// preview returns what a call did, in words for people.
func preview(tools []chela.Tool, c chela.ToolCall) string {
	for _, t := range tools {
		if t.Name == c.Tool && t.Judge != nil {
			if text := t.Judge(c.Args).Preview; text != "" {
				return text
			}
		}
	}
	return string(c.Args)
}

// finishRewinds brings rewinds to their end that nobody carries out any more.
func (a *App) finishRewinds(ctx context.Context, key chela.SessionKey) error {
	return a.rewinds.Finish(ctx, key)
}

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

// written tells file_undo what it takes back. The mover is made after the tools.
func (a *App) written(ctx context.Context, thread chela.ThreadID, path string) (file.Written, error) {
	return a.rewinds.Written(ctx, thread, path)
}

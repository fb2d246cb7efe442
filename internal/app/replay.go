package app

import (
	"context"

	"chela"
	"chela/internal/prompt"
	"chela/internal/replay"
)

// Replay runs a turn again from its record.
func (b *backend) Replay(ctx context.Context, id chela.TurnID) (chela.Replay, error) {
	stage := replay.Stage{
		Store: b.store, Turns: b.turns(),
		Frame: func(s chela.Session, t chela.Turn) prompt.Frame { return b.agents.agent(ctx, s, t).Frame },
	}
	return stage.Replay(ctx, id)
}

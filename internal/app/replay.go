package app

import (
	"context"

	"chela"
	"chela/internal/prompt"
	"chela/internal/replay"
)

// Replay runs a turn again from its record, and live with its model too.
func (b *backend) Replay(ctx context.Context, id chela.TurnID, live bool) (chela.Replay, error) {
	stage := replay.Stage{
		Store: b.store, Turns: b.turns(), Send: b.Send,
		Frame: func(s chela.Session, t chela.Turn) (prompt.Frame, error) {
			agent, err := b.agents.Agent(ctx, s, t)
			return agent.Frame, err
		},
	}
	return stage.Replay(ctx, id, live)
}

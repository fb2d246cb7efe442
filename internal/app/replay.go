package app

import (
	"context"

	"chela"
	"chela/internal/engine/prompt"
	"chela/internal/engine/replay"
)

// Replay executes a turn again from its record, and optionally live with its
// model too.
func (s *outside) Replay(ctx context.Context, id chela.TurnID, live bool) (chela.Replay, error) {
	stage := replay.Stage{
		Store: s.store, Turns: s.turns(), Send: s.Send,
		Frame: func(of chela.Session, t chela.Turn) (prompt.Frame, error) {
			agent, err := s.agents.Agent(ctx, of, t)
			return agent.Frame, err
		},
	}
	return stage.Replay(ctx, id, live)
}

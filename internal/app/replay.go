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
		Store: b.store, Turns: b.turns(), Send: b.send,
		Frame: func(s chela.Session, t chela.Turn) (prompt.Frame, error) {
			agent, err := b.agents.Agent(ctx, s, t)
			return agent.Frame, err
		},
	}
	return stage.Replay(ctx, id, live)
}

// send commits messages for one thread, which no hook sees again, and follows
// the turn of the first one.
func (b *backend) send(ctx context.Context, messages []chela.Inbound) (chela.Turn, error) {
	key := messages[0].Session
	heard := b.bus.Listen(key, nil)
	defer heard.Close()
	receipt, err := b.lanes.Submit(ctx, messages[0])
	for _, m := range messages[1:] {
		if err == nil {
			_, err = b.lanes.Submit(ctx, m)
		}
	}
	if err == nil && receipt.Turn == "" {
		receipt.Turn, err = b.taken(ctx, heard, receipt)
	}
	if err != nil {
		return chela.Turn{}, err
	}
	return b.Follow(ctx, receipt.Turn, func(chela.Event) {})
}

package command

import (
	"context"

	"chela/internal/engine/lane"
)

// routine looks at routines and changes them.
func (i *Interpreter) routine(ctx context.Context, g given) (lane.Order, error) {
	return i.ofRoutines(ctx, g, i.cfg.Routines.Routine)
}

// heartbeat looks at the heartbeat of the agent.
func (i *Interpreter) heartbeat(ctx context.Context, g given) (lane.Order, error) {
	return i.ofRoutines(ctx, g, i.cfg.Routines.Heartbeat)
}

// ofRoutines executes a command that changes routines in transactions of its
// own.
func (i *Interpreter) ofRoutines(ctx context.Context, g given, do func(context.Context, RoutineOrder) (string, error)) (lane.Order, error) {
	text, err := do(ctx, RoutineOrder{Inbound: g.Inbound, Agent: g.session.Agent, Args: g.args, Group: g.inGroup()})
	if err != nil {
		return nil, err
	}
	return reply(text), nil
}

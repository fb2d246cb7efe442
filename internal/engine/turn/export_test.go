package turn

import (
	"context"

	"chela"
)

// RunCall runs a call of a tool of an agent, outside of a turn.
func RunCall(ctx context.Context, cfg Config, agent Agent, c chela.ToolCall) (chela.CallState, string) {
	n := run{Config: cfg, agent: agent}
	out := n.call(ctx, c)
	return out.State, out.Text
}

package client

import (
	"context"
	"net/http"

	"chela"
	"chela/internal/api"
)

// Turn returns one turn.
func (c *Client) Turn(ctx context.Context, id chela.TurnID) (chela.Turn, error) {
	t, err := get[api.Turn](ctx, c, "api", "turns", string(id))
	return t.Turn, err
}

// Transcript returns the entries of a turn in order of their sequence, and its
// tool calls in order of step and index.
func (c *Client) Transcript(ctx context.Context, id chela.TurnID) ([]chela.Entry, []chela.ToolCall, error) {
	t, err := get[api.Trace](ctx, c, "api", "turns", string(id), "trace")
	return t.Entries, t.Calls, err
}

// Replay executes a turn again from its record and compares.
func (c *Client) Replay(ctx context.Context, id chela.TurnID, live bool) (chela.Replay, error) {
	path := []string{"api", "turns", string(id), "replay"}
	return answered[chela.Replay](ctx, c, request{method: http.MethodPost, path: path, body: api.Replaying{Live: live}})
}

// Stop requests the cancellation of a turn and does not wait for it. A turn
// that has ended is a Conflict.
func (c *Client) Stop(ctx context.Context, id chela.TurnID) error {
	path := []string{"api", "turns", string(id), "cancel"}
	return c.do(ctx, request{method: http.MethodPost, path: path, limit: answerTime}, nil)
}

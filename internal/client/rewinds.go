package client

import (
	"context"
	"net/http"

	"chela"
	"chela/internal/api"
)

// Rewind moves the head of a thread: undo, redo or restore. It waits for a
// running turn to end.
func (c *Client) Rewind(ctx context.Context, id chela.ThreadID, kind chela.RewindKind, q api.Rewinding) (chela.Rewind, error) {
	path := []string{"api", "threads", string(id), string(kind)}
	return answered[chela.Rewind](ctx, c, request{method: http.MethodPost, path: path, body: q})
}

// Checkpoint names the place where a thread is.
func (c *Client) Checkpoint(ctx context.Context, id chela.ThreadID, q api.NewCheckpoint) (chela.Checkpoint, error) {
	path := []string{"api", "threads", string(id), "checkpoint"}
	return answered[chela.Checkpoint](ctx, c, request{method: http.MethodPost, path: path, body: q, limit: answerTime})
}

// Branch begins a thread that branches off another one.
func (c *Client) Branch(ctx context.Context, id chela.ThreadID, q api.NewBranch) (chela.Thread, error) {
	path := []string{"api", "threads", string(id), "branch"}
	return answered[chela.Thread](ctx, c, request{method: http.MethodPost, path: path, body: q, limit: answerTime})
}

// Places returns where a thread can go from where it is.
func (c *Client) Places(ctx context.Context, id chela.ThreadID) (api.Places, error) {
	t, err := get[api.Thread](ctx, c, "api", "threads", string(id))
	return t.Places, err
}

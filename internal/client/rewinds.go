package client

import (
	"context"
	"net/http"

	"chela"
	"chela/internal/api"
)

// Rewind moves the head of a thread: undo, redo or restore. It waits for a
// running turn to end.
func (c *Client) Rewind(ctx context.Context, id chela.ThreadID, kind chela.RewindKind, q api.Rewinding) (v chela.Rewind, err error) {
	path := []string{"api", "threads", string(id), string(kind)}
	return v, c.do(ctx, request{method: http.MethodPost, path: path, body: q}, &v)
}

// Checkpoint names the place where a thread is.
func (c *Client) Checkpoint(ctx context.Context, id chela.ThreadID, q api.NewCheckpoint) (made chela.Checkpoint, err error) {
	path := []string{"api", "threads", string(id), "checkpoint"}
	return made, c.do(ctx, request{method: http.MethodPost, path: path, body: q, limit: answerTime}, &made)
}

// Branch begins a thread that branches off another one.
func (c *Client) Branch(ctx context.Context, id chela.ThreadID, q api.NewBranch) (made chela.Thread, err error) {
	path := []string{"api", "threads", string(id), "branch"}
	return made, c.do(ctx, request{method: http.MethodPost, path: path, body: q, limit: answerTime}, &made)
}

// Places returns where a thread can go from where it is.
func (c *Client) Places(ctx context.Context, id chela.ThreadID) (api.Places, error) {
	t, err := get[api.Thread](ctx, c, "api", "threads", string(id))
	return t.Places, err
}

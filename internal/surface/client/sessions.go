package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"chela"
	"chela/internal/api"
)

// Sessions returns all sessions, most recently used first.
func (c *Client) Sessions(ctx context.Context) ([]chela.Session, error) {
	query := url.Values{"archived": {"true"}, "limit": {strconv.Itoa(api.MaxPage)}}
	all, err := list[chela.Session](ctx, c, query, "api", "sessions")
	slices.SortStableFunc(all, func(a, b chela.Session) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all, err
}

// Session returns one session with its spending.
func (c *Client) Session(ctx context.Context, key chela.SessionKey) (api.Session, error) {
	if _, err := chela.ParseSessionKey(key); err != nil {
		return api.Session{}, err
	}
	return get[api.Session](ctx, c, "api", "sessions", string(key))
}

// Change changes settings of a session, or its current thread.
func (c *Client) Change(ctx context.Context, key chela.SessionKey, p api.SettingsPatch) (s chela.Session, err error) {
	if _, err := chela.ParseSessionKey(key); err != nil {
		return s, err
	}
	path := []string{"api", "sessions", string(key)}
	return answered[chela.Session](ctx, c, request{method: http.MethodPatch, path: path, body: p, limit: answerTime})
}

// Begin makes a new thread current in a session; the old one stays readable.
func (c *Client) Begin(ctx context.Context, key chela.SessionKey, title string) (t chela.Thread, err error) {
	if _, err := chela.ParseSessionKey(key); err != nil {
		return t, err
	}
	body := api.NewThread{Session: key, Title: title}
	return answered[chela.Thread](ctx, c, request{method: http.MethodPost, path: []string{"api", "threads"}, body: body, limit: answerTime})
}

// Title changes the title of a thread.
func (c *Client) Title(ctx context.Context, id chela.ThreadID, title string) (chela.Thread, error) {
	path := []string{"api", "threads", string(id)}
	return answered[chela.Thread](ctx, c, request{method: http.MethodPatch, path: path, body: api.ThreadPatch{Title: title}, limit: answerTime})
}

// Threads returns the threads of a session, most recently used first.
func (c *Client) Threads(ctx context.Context, key chela.SessionKey) ([]chela.Thread, error) {
	if _, err := chela.ParseSessionKey(key); err != nil {
		return nil, err
	}
	return list[chela.Thread](ctx, c, url.Values{"session": {string(key)}}, "api", "threads")
}

// Thread returns one thread.
func (c *Client) Thread(ctx context.Context, id chela.ThreadID) (chela.Thread, error) {
	return get[chela.Thread](ctx, c, "api", "threads", string(id))
}

// Path returns the entries of a thread from the root to the head.
func (c *Client) Path(ctx context.Context, id chela.ThreadID) ([]chela.Entry, error) {
	return list[chela.Entry](ctx, c, url.Values{"path": {"true"}}, "api", "threads", string(id), "entries")
}

// Prompt returns the size of the next prompt of a thread.
func (c *Client) Prompt(ctx context.Context, id chela.ThreadID) (chela.PromptSize, error) {
	return get[chela.PromptSize](ctx, c, "api", "threads", string(id), "prompt")
}

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

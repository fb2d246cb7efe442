package store

import (
	"context"

	"chela"
)

var requestTable = tableOf("keyed_requests", func(q *chela.KeyedRequest) []column {
	return []column{
		{"account", &q.Token},
		{"key", &q.Key},
		{"hash", &q.Hash},
		{"state", &q.State},
		{"status", &q.Status},
		{"media_type", &q.MediaType},
		{"answer", &q.Answer},
		{"created_at", &q.CreatedAt},
		{"expires_at", &q.ExpiresAt},
	}
})

// ClaimRequest adds a keyed request as running, or returns the existing request
// with its key. It reports whether the caller must execute it: it is new, or
// repeats a failed one. Requests that have expired by q.CreatedAt are deleted
// first.
func (w *Write) ClaimRequest(ctx context.Context, q chela.KeyedRequest) (found chela.KeyedRequest, claimed bool, err error) {
	if err := w.tx.Must(ctx, `delete from keyed_requests where expires_at <= $1`, micros(q.CreatedAt)); err != nil {
		return q, false, err
	}
	q.State = chela.RequestRunning
	n, err := w.tx.Exec(ctx, requestTable.insert+` on conflict (account, key) do nothing`, requestTable.args(q)...)
	if err != nil || n == 1 {
		return q, n == 1, err
	}
	found, err = queryOne(ctx, w.tx, requestTable.scan, "keyed request", q.Key, `select `+requestTable.columns+` from keyed_requests where account = $1 and key = $2`,
		string(q.Token), q.Key)
	if err != nil || found.State != chela.RequestFailed || found.Hash != q.Hash {
		return found, false, err
	}
	found.State = chela.RequestRunning
	n, err = w.tx.Exec(ctx, `update keyed_requests set state = 'running' where account = $1 and key = $2 and state = 'failed'`,
		string(q.Token), q.Key)
	return found, n == 1, err
}

// RemoveRequest deletes a keyed request, if there is one.
func (w *Write) RemoveRequest(ctx context.Context, token chela.TokenID, key string) error {
	return w.tx.Must(ctx, `delete from keyed_requests where account = $1 and key = $2`, string(token), key)
}

// MoveRequest stores the outcome of a running request. It returns Conflict if
// the request is no longer running.
func (w *Write) MoveRequest(ctx context.Context, q chela.KeyedRequest) error {
	if !chela.RequestRunning.CanMove(q.State) {
		return illegalMove("keyed request", q.Key, chela.RequestRunning, q.State)
	}
	return w.tx.Move(ctx, "keyed request", q.Key, `update keyed_requests set state = $3, status = $4, media_type = $5, answer = $6
		where account = $1 and key = $2 and state = 'running'`,
		string(q.Token), q.Key, string(q.State), q.Status, q.MediaType, q.Answer)
}

// ShortenRequests deletes all but the newest keyed requests of a token.
func (w *Write) ShortenRequests(ctx context.Context, token chela.TokenID, keep int) error {
	return w.tx.Must(ctx, `delete from keyed_requests where account = $1 and created_at < coalesce((
		select created_at from keyed_requests where account = $1 order by created_at desc limit 1 offset cast($2 as bigint)), 0)`,
		string(token), keep)
}

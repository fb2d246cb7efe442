package store

import (
	"context"

	"chela"
)

var requestTable = tableOf[chela.KeyedRequest]("keyed request", "keyed_requests", `
	account=Token key hash state status media_type answer created_at expires_at`)

// ClaimRequest adds a keyed request as running, or returns the existing request
// with its key. It reports whether the caller must execute it: it is new, or
// repeats a failed one. Requests that have expired by q.CreatedAt are deleted
// first.
func (w *Write) ClaimRequest(ctx context.Context, q chela.KeyedRequest) (found chela.KeyedRequest, claimed bool, err error) {
	if err := w.tx.Must(ctx, `delete from keyed_requests where expires_at <= $1`, q.CreatedAt); err != nil {
		return q, false, err
	}
	q.State = chela.RequestRunning
	added, err := requestTable.addNew(ctx, w.tx, q, "account, key")
	if err != nil || added {
		return q, added, err
	}
	found, err = requestTable.one(ctx, w.tx, q.Key, requestTable.selects+`where account = $1 and key = $2`,
		q.Token, q.Key)
	if err != nil || found.State != chela.RequestFailed || found.Hash != q.Hash {
		return found, false, err
	}
	found.State = chela.RequestRunning
	claimed, err = w.tx.Did(ctx, `update keyed_requests set state = 'running' where account = $1 and key = $2 and state = 'failed'`,
		q.Token, q.Key)
	return found, claimed, err
}

// RemoveRequest deletes a keyed request, if there is one.
func (w *Write) RemoveRequest(ctx context.Context, token chela.TokenID, key string) error {
	return w.tx.Must(ctx, `delete from keyed_requests where account = $1 and key = $2`, token, key)
}

var answerRequest = requestTable.update("state status media_type answer", `key = $1 and account = $2 and state = 'running'`)

// MoveRequest stores the outcome of a running request. It returns Conflict if
// the request is no longer running.
func (w *Write) MoveRequest(ctx context.Context, q chela.KeyedRequest) error {
	if !chela.RequestRunning.CanMove(q.State) {
		return illegalMove("keyed request", q.Key, chela.RequestRunning, q.State)
	}
	return answerRequest.move(ctx, w.tx, q, q.Key, q.Token)
}

// ShortenRequests deletes all but the newest keyed requests of a token.
func (w *Write) ShortenRequests(ctx context.Context, token chela.TokenID, keep int) error {
	return w.tx.Must(ctx, `delete from keyed_requests where account = $1 and created_at < coalesce((
		select created_at from keyed_requests where account = $1 order by created_at desc limit 1 offset cast($2 as bigint)), 0)`,
		token, keep)
}

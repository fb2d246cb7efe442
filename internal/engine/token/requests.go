package token

import (
	"context"

	"chela"
	"chela/internal/store"
)

// maxRequests is the number of keyed requests kept per token; the oldest are
// deleted first. The limit is checked once every shortenEvery claims.
const (
	maxRequests  = 10_000
	shortenEvery = 100
)

// Claim adds a keyed request as running, or returns the existing one under its
// key. It reports whether the caller must execute the request. Fresh deletes an
// earlier request under the key.
func (ts *Tokens) Claim(ctx context.Context, q chela.KeyedRequest, fresh bool) (found chela.KeyedRequest, claimed bool, err error) {
	ts.mu.Lock()
	ts.claims++
	shorten := ts.claims%shortenEvery == 0
	ts.mu.Unlock()
	err = ts.store.Write(ctx, "request.claim", func(w *store.Write) error {
		if fresh {
			if err := w.RemoveRequest(ctx, q.Token, q.Key); err != nil {
				return err
			}
		}
		if shorten {
			if err := w.ShortenRequests(ctx, q.Token, maxRequests); err != nil {
				return err
			}
		}
		var err error
		found, claimed, err = w.ClaimRequest(ctx, q)
		return err
	})
	return found, claimed, err
}

// Settle stores the outcome of a keyed request.
func (ts *Tokens) Settle(ctx context.Context, q chela.KeyedRequest) error {
	return ts.store.Write(ctx, "request.settle", func(w *store.Write) error { return w.MoveRequest(ctx, q) })
}

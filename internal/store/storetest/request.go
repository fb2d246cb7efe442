package storetest

import (
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// checkKeyedRequests claims keys, again and by several at once.
func checkKeyedRequests(t *testing.T, s *store.Store) {
	ctx := t.Context()
	type claim struct {
		Found   chela.KeyedRequest
		Claimed bool
	}
	claimed := func(q chela.KeyedRequest) claim {
		var c claim
		write(t, s, func(w *store.Write) (err error) {
			c.Found, c.Claimed, err = w.ClaimRequest(ctx, q)
			return err
		})
		return c
	}
	q := full[chela.KeyedRequest]()
	q.State, q.ExpiresAt = chela.RequestRunning, q.CreatedAt.Add(time.Hour)
	same(t, claim{q, true}, claimed(q))
	same(t, claim{q, false}, claimed(q))

	other := q
	other.Token = "tok_other"
	same(t, claim{other, true}, claimed(other))

	move := func(q chela.KeyedRequest) error {
		return s.Write(ctx, "test", func(w *store.Write) error { return w.MoveRequest(ctx, q) })
	}
	failed := q
	failed.State = chela.RequestFailed
	same(t, nil, move(failed))
	same(t, chela.Conflict, chela.KindOf(move(failed)))
	changed := q
	changed.Hash = "another"
	same(t, claim{failed, false}, claimed(changed))
	same(t, claim{q, true}, claimed(q))
	same(t, chela.Internal, chela.KindOf(move(q)))
	answered := q
	answered.State, answered.Answer, answered.Status, answered.MediaType = chela.RequestAnswered, "yes", 201, "text/plain"
	same(t, nil, move(answered))
	same(t, claim{answered, false}, claimed(q))

	again := q
	again.CreatedAt, again.ExpiresAt = q.ExpiresAt, q.ExpiresAt.Add(time.Hour)
	same(t, claim{again, true}, claimed(again)) // the first one has expired
	write(t, s, func(w *store.Write) error { return w.RemoveRequest(ctx, q.Token, q.Key) })
	same(t, claim{again, true}, claimed(again))

	won := winners(t, race(8, func(int) error {
		return s.Write(ctx, "test", func(w *store.Write) error {
			raced := again
			raced.Key = "raced"
			_, claimed, err := w.ClaimRequest(ctx, raced)
			if err == nil && !claimed {
				err = chela.E(chela.Conflict, "claimed by another one")
			}
			return err
		})
	}))
	same(t, 1, len(won))
}

// checkShortenedRequests bounds how many keys of a token are kept.
func checkShortenedRequests(t *testing.T, s *store.Store) {
	ctx := t.Context()
	q := full[chela.KeyedRequest]()
	q.ExpiresAt = q.CreatedAt.Add(time.Hour)
	claims := func(key string, after time.Duration) (claimed bool) {
		one := q
		one.Key, one.CreatedAt = key, q.CreatedAt.Add(after)
		write(t, s, func(w *store.Write) (err error) {
			_, claimed, err = w.ClaimRequest(ctx, one)
			return err
		})
		return claimed
	}
	for i, key := range []string{"a", "b", "c"} {
		same(t, true, claims(key, time.Duration(i)*time.Second))
	}
	shorten := func(token chela.TokenID, keep int) {
		write(t, s, func(w *store.Write) error { return w.ShortenRequests(ctx, token, keep) })
	}
	shorten(q.Token, 5)
	shorten("tok_other", 0)
	same(t, false, claims("a", 0))
	shorten(q.Token, 1)
	same(t, []bool{true, false, false}, []bool{claims("a", 0), claims("b", 0), claims("c", 0)})
}

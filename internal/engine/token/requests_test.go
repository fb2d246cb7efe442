package token_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/token"
	"chela/internal/store"
)

// request returns a keyed request of a token that expires in a day.
func (h house) request(token chela.TokenID, key, hash string) chela.KeyedRequest {
	now := h.Now()
	return chela.KeyedRequest{
		Token: token, Key: key, Hash: hash, State: chela.RequestRunning, CreatedAt: now, ExpiresAt: now.Add(24 * time.Hour),
	}
}

// claim claims a request and checks whether the caller is to carry it out, and
// the hash of the request under its key.
func claim(t *testing.T, k *token.Tokens, q chela.KeyedRequest, wantClaimed bool, wantHash string) {
	t.Helper()
	found, claimed, err := k.Claim(t.Context(), q, false)
	if err != nil || claimed != wantClaimed || found.Hash != wantHash {
		t.Errorf("claim %s: claimed %t, hash %q, %v; want %t, %q", q.Key, claimed, found.Hash, err, wantClaimed, wantHash)
	}
}

// TestKeyedRequestIsClaimedOnce checks that a key belongs to its first request
// until that fails, and to the keys of one token alone.
func TestKeyedRequestIsClaimedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, h house) {
		k := h.tokens()
		laptop, _ := create(t, k, "laptop", chela.ScopeChat)
		phone, _ := create(t, k, "phone", chela.ScopeChat)
		first := h.request(laptop.ID, "key", "first")
		claim(t, k, first, true, "first")
		claim(t, k, h.request(laptop.ID, "key", "second"), false, "first")
		claim(t, k, h.request(phone.ID, "key", "other"), true, "other")

		first.State = chela.RequestFailed
		if err := k.Settle(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		claim(t, k, first, true, "first")

		found, claimed, err := k.Claim(t.Context(), h.request(laptop.ID, "key", "fresh"), true)
		if err != nil || !claimed || found.Hash != "fresh" {
			t.Errorf("claim a fresh request: claimed %t, hash %q, %v", claimed, found.Hash, err)
		}
		claim(t, k, first, false, "fresh")
		claim(t, k, h.request(phone.ID, "key", "later"), false, "other")
	})
}

// TestKeyedRequestsAreBounded: every hundredth claim removes the oldest requests
// of its token beyond 10,000.
func TestKeyedRequestsAreBounded(t *testing.T) {
	t.Parallel()
	h := onSQLite(t)
	k := h.tokens()
	laptop, _ := create(t, k, "laptop", chela.ScopeChat)
	phone, _ := create(t, k, "phone", chela.ScopeChat)
	old := h.request(laptop.ID, "0", "old")
	err := h.store.Write(t.Context(), "test.fill", func(w *store.Write) error {
		if _, _, err := w.ClaimRequest(t.Context(), h.request(phone.ID, "0", "phone")); err != nil {
			return err
		}
		for n := range 10_000 {
			if _, _, err := w.ClaimRequest(t.Context(), h.request(laptop.ID, strconv.Itoa(n), "old")); err != nil {
				return err
			}
			h.move(time.Millisecond)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 98 {
		claim(t, k, h.request(laptop.ID, "new "+strconv.Itoa(n), "new"), true, "new")
		h.move(time.Millisecond)
	}
	claim(t, k, old, false, "old") // the 99th
	claim(t, k, h.request(laptop.ID, "the hundredth", "new"), true, "new")
	removed := map[string]bool{}
	err = h.store.Write(t.Context(), "test.look", func(w *store.Write) error {
		for _, q := range []chela.KeyedRequest{old, h.request(laptop.ID, "9999", "new"), h.request(phone.ID, "0", "new")} {
			_, claimed, err := w.ClaimRequest(t.Context(), q)
			if err != nil {
				return err
			}
			removed[string(q.Token)+" "+q.Key] = claimed
		}
		return nil
	})
	want := map[string]bool{string(laptop.ID) + " 0": true, string(laptop.ID) + " 9999": false, string(phone.ID) + " 0": false}
	if diff := cmp.Diff(want, removed); diff != "" || err != nil {
		t.Errorf("removed requests: %v (-want +got):\n%s", err, diff)
	}
}

// TestClaimFailsWithTheStore carries out no request that could not be stored.
func TestClaimFailsWithTheStore(t *testing.T) {
	t.Parallel()
	h := onSQLite(t)
	k := h.tokens()
	if _, claimed, err := k.Claim(t.Context(), h.request("tok_none", "key", ""), false); claimed || err == nil {
		t.Errorf("claim a request that the store refuses: claimed %t, %v", claimed, err)
	}
}

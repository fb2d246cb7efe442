package storetest

import (
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// checkSecrets: a secret is kept whole, and a version replaces only the one
// before it.
func checkSecrets(t *testing.T, s *store.Store) {
	ctx := t.Context()
	at := time.UnixMicro(1_700_000_000_000_001).UTC()
	first := store.SealedSecret{
		Secret: chela.Secret{
			Name: "github", Version: 1, Hosts: []string{"api.example", "*.example:8443"}, Note: "for the bot", Key: "k1", CreatedAt: at, ChangedAt: at,
		},
		Sealed: []byte{0, 255, 7},
	}
	put := func(v store.SealedSecret) func(*store.Write) error {
		return func(w *store.Write) error { return w.PutSecret(ctx, v) }
	}
	get := func(r *store.Read) (store.SealedSecret, error) { return r.Secret(ctx, "github") }
	miss(t, s, get)
	write(t, s, put(first))
	same(t, first, read(t, s, get))
	refuse(t, s, chela.Conflict, put(first))
	second := first
	second.Version, second.Hosts, second.Sealed, second.ChangedAt = 2, nil, []byte{1}, at.Add(time.Second)
	write(t, s, put(second))
	refuse(t, s, chela.Conflict, put(second))
	resealed := second
	resealed.Key, resealed.Sealed = "k2", []byte{2}
	write(t, s, func(w *store.Write) error { return w.ResealSecret(ctx, resealed) })
	refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.ResealSecret(ctx, first) })
	uses := make([]chela.SecretUse, 3)
	for i := range uses {
		uses[i] = chela.SecretUse{
			ID: chela.SecretUseID([]string{"sec_1", "sec_2", "sec_3"}[i]), Name: "github", Version: 2, Purpose: "egress", Host: "api.example:443",
			Session: "agent:main:main", Turn: "turn_1", At: at.Add(time.Duration(i) * time.Minute),
		}
		write(t, s, func(w *store.Write) error { return w.AddSecretUse(ctx, uses[i]) })
	}
	resealed.Uses, resealed.UsedAt = 3, uses[2].At
	same(t, resealed, read(t, s, get))
	same(t, []store.SealedSecret{resealed}, read(t, s, func(r *store.Read) ([]store.SealedSecret, error) { return r.Secrets(ctx) }))
	same(t, uses[1:2], read(t, s, func(r *store.Read) ([]chela.SecretUse, error) { return r.SecretUses(ctx, "github", uses[2].At, 1) }))
	remove := func(w *store.Write) error { return w.RemoveSecret(ctx, "github") }
	write(t, s, remove)
	refuse(t, s, chela.Conflict, remove)
}

package token_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
)

// TestOperations creates, lists and revokes tokens through their operations.
func TestOperations(t *testing.T) {
	onBoth(t, func(t *testing.T, h house) {
		tokens := h.tokens()
		home := api.Local{Operations: tokens.Operations()}
		var made []chela.Token
		for _, name := range []string{"laptop", "phone"} {
			m, err := api.Call(t.Context(), home, api.TokensCreate, api.NewToken{Name: name, Scope: chela.ScopeTalk})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := tokens.Authenticate(t.Context(), m.Secret); got != m.Token || err != nil {
				t.Errorf("%s: authenticated %+v, %v", name, got, err)
			}
			made = append(made, m.Token)
			h.move(time.Second)
		}
		_, err := api.Call(t.Context(), home, api.TokensCreate, api.NewToken{Name: "x", Scope: "owner"})
		wants(t, "unknown scope", err, chela.Invalid)
		for _, want := range []chela.Kind{"", chela.Conflict} {
			_, err := api.Call(t.Context(), home, api.TokensRevoke, api.TokenRef{ID: made[0].ID})
			wants(t, "revoke", err, want)
		}
		if n, err := tokens.Usable(t.Context()); n != 1 || err != nil {
			t.Errorf("%d usable tokens, want 1: %v", n, err)
		}
		made[0].RevokedAt = h.Now()
		for _, q := range []api.TokensQuery{{}, {Limit: 1}} {
			got, err := api.All(t.Context(), home, api.TokensList, q)
			if diff := cmp.Diff(made, got); diff != "" || err != nil {
				t.Errorf("%+v: %v (-want +got)\n%s", q, err, diff)
			}
		}
	})
}

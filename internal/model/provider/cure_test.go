package provider_test

import (
	"testing"
	"time"

	"chela"
	"chela/internal/model/provider"
)

func TestRemedy(t *testing.T) {
	t.Parallel()
	away := chela.ProviderError{Kind: chela.Unavailable, Retryable: true}
	for _, c := range []struct {
		name string
		err  chela.ProviderError
		want string
	}{
		{"key", chela.ProviderError{Kind: chela.Denied, Status: 401}, "check providers.p.api_key: chela config get providers.p.api_key"},
		{"no such model", chela.ProviderError{Kind: chela.NotFound, Status: 404}, "chela models list shows the models of p"},
		{"prompt too large", chela.ProviderError{Kind: chela.Invalid, Status: 400, Overflow: true}, "send less, or use a model with a larger window: chela models list"},
		{"quota", chela.ProviderError{Kind: chela.Exhausted, Status: 429}, "check the account at p: its credit or quota is used up"},
		{"rate", chela.ProviderError{Kind: chela.Exhausted, Status: 429, Retryable: true}, "try again later"},
		{"rate, a moment", chela.ProviderError{Kind: chela.Exhausted, Status: 429, Retryable: true, After: time.Millisecond}, "try again in a second"},
		{"rate, seconds", chela.ProviderError{Kind: chela.Exhausted, Status: 429, Retryable: true, After: 89500 * time.Millisecond}, "try again in 90 seconds"},
		{"rate, an hour", chela.ProviderError{Kind: chela.Exhausted, Status: 429, Retryable: true, After: time.Hour}, "try again in 60 minutes"},
		{"rate, a day", chela.ProviderError{Kind: chela.Exhausted, Status: 429, Retryable: true, After: 24 * time.Hour}, "try again in 24 hours"},
		{"no connection", away, "check providers.p.base_url and the network"},
		{"let be", chela.ProviderError{Kind: chela.Unavailable, Retryable: true, After: 30 * time.Second}, "try again in 30 seconds"},
		{"broken off", chela.ProviderError{Kind: chela.Unavailable, Retryable: true, Cut: true}, "try again later"},
		{"overloaded", chela.ProviderError{Kind: chela.Unavailable, Status: 503, Retryable: true}, "try again later"},
		{"a page", chela.ProviderError{Kind: chela.Unsupported, Status: 200}, "check [providers.p]: its base_url or kind may not match the server"},
		{"no tools", chela.ProviderError{Kind: chela.Unsupported, Status: 400}, "use another model: chela models list"},
		{"not understood", chela.ProviderError{Kind: chela.Invalid, Status: 400}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.err.Provider = "p"
			if got := provider.Remedy(&c.err); got != c.want {
				t.Errorf("the cure is %q, want %q", got, c.want)
			}
		})
	}
}

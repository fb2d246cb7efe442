package provider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider"
)

// TestWithKey: the key is sent in place of what stands for it, in each form that
// headers have, and a refusal that repeats it does not tell it.
func TestWithKey(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+" "+r.Header.Get("X-Api-Key"))
	}))
	t.Cleanup(server.Close)
	rejected := 0
	key := provider.Key{
		Provider: "p", Stand: "secret:key", Value: func(context.Context) (string, error) { return "swordfish", nil },
		Rejected: func() { rejected++ },
	}
	get := func(path string, k provider.Key) (string, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret:key")
		req.Header.Set("X-Api-Key", "secret:key")
		res, err := (&http.Client{Transport: provider.WithKey(http.DefaultTransport, k)}).Do(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if req.Header.Get("X-Api-Key") != "secret:key" {
			t.Error("the request of the caller holds the key")
		}
		return string(text), err
	}
	if got, err := get("/", key); got != "Bearer swordfish swordfish" || err != nil || rejected != 0 {
		t.Errorf("%q %v, rejected %d times", got, err, rejected)
	}
	if got, err := get("/refused", key); got != "Bearer [secret] [secret]" || err != nil || rejected != 1 {
		t.Errorf("refused: %q %v, rejected %d times", got, err, rejected)
	}
	for kind, want := range map[chela.Kind]chela.Kind{chela.NotFound: chela.Denied, chela.Invalid: chela.Denied, chela.Unavailable: chela.Unavailable} {
		missing := key
		missing.Value = func(context.Context) (string, error) { return "", chela.E(kind, "there is none") }
		_, err := get("/", missing)
		failed, ok := errors.AsType[*chela.ProviderError](err)
		if !ok || failed.Kind != want || failed.Retryable || !strings.Contains(failed.Msg, "there is none") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

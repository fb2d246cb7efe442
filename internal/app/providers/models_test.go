package providers_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
)

// server returns the address of a server that answers every request so.
func server(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// TestModelsOfWhoIsThere lists the models of those who tell theirs, and says who
// does not.
func TestModelsOfWhoIsThere(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	p := withFiles(t, `
[providers.broken]
kind = "openai"
base_url = "`+server(t, 503, `{"error":{"message":"out of order"}}`)+`"
[providers.gone]
kind = "openai"
base_url = "`+gone.URL+`/v1"
[providers.there]
kind = "openai"
base_url = "`+server(t, 200, `{"object":"list","data":[{"id":"small","object":"model"}]}`)+`"
`, "")
	got, err := p.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, m := range got.Items {
		names += " " + m.Provider + "/" + m.Name
	}
	if names != " offline/rules there/small" {
		t.Errorf("models are%s", names)
	}
	for i := range got.Away {
		_, got.Away[i].Message, _ = strings.Cut(got.Away[i].Message, ":")
	}
	want := []api.Away{{Provider: "broken", Kind: chela.Unavailable, Message: " out of order"}, {Provider: "gone", Kind: chela.Unavailable}}
	if len(got.Away) == 2 {
		want[1].Message = got.Away[1].Message // as the system words it
	}
	if diff := cmp.Diff(want, got.Away); diff != "" {
		t.Errorf("away (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Models(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v of who left", err)
	}
}

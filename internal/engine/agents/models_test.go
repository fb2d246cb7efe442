package agents_test

import (
	"context"
	"errors"
	"fmt"
	"net"
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
	want := []api.UnlistedProvider{{Provider: "broken", Kind: chela.Unavailable, Message: " out of order"}, {Provider: "gone", Kind: chela.Unavailable}}
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

// silent returns the address of a server that takes connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String() + "/v1"
}

// TestModelsOfWhoNeverAnswers does not wait for providers that do not answer.
func TestModelsOfWhoNeverAnswers(t *testing.T) {
	t.Parallel()
	text := `
[providers.there]
kind = "openai"
base_url = "` + server(t, 200, `{"object":"list","data":[{"id":"small","object":"model"}]}`) + `"
`
	var want []api.UnlistedProvider
	for _, name := range []string{"silent-1", "silent-2"} {
		text += fmt.Sprintf("[providers.%s]\nkind = \"openai\"\nbase_url = %q\n", name, silent(t))
		want = append(want, api.UnlistedProvider{Provider: name, Kind: chela.Unavailable, Message: name + ": it did not list its models within 500ms"})
	}
	p := withFiles(t, text, "")
	got, err := p.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Away); diff != "" {
		t.Errorf("away (-want +got):\n%s", diff)
	}
	if n := len(got.Items); n == 0 || got.Items[n-1].Name != "small" {
		t.Errorf("models are %v", got.Items)
	}
}

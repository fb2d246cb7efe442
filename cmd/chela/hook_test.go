package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestWebhookHooks lets a server see what passes the real program: it changes an
// answer, and when it breaks, what is closed stays closed.
func TestWebhookHooks(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var points []string // guarded by mu
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct{ Point, Text string }
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		mu.Lock()
		points = append(points, m.Point)
		mu.Unlock()
		switch {
		case strings.Contains(m.Text, "break"):
			http.Error(w, "broken", http.StatusInternalServerError)
		case m.Point == "transform_response":
			fmt.Fprintf(w, `{"action":"modify","text":%q}`, strings.ToUpper(m.Text))
		}
	}))
	defer server.Close()

	s := story{scenario: "past_end: repeat\nturns: [{steps: [{text: \"You said {{user}}.\"}]}]"}
	p := s.player(t, newLedger(t), "sqlite")
	config := ""
	for _, point := range []string{"before_inbound", "transform_response"} {
		config += fmt.Sprintf("[[hooks]]\npoint = %q\nkind = \"webhook\"\nurl = %q\n", point, server.URL)
	}
	if err := os.WriteFile(filepath.Join(p.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := p.run("ask", "hello"); out.stdout != "YOU SAID HELLO.\n" {
		t.Errorf("%q %s", out.stdout, out.stderr)
	}
	if out := p.run("ask", "break"); out.code != 3 || !strings.Contains(out.stderr, "the hook hooks[1] refused it: it failed") {
		t.Errorf("code %d: %s", out.code, out.stderr)
	}
	if want := []string{"before_inbound", "transform_response", "before_inbound"}; !slices.Equal(points, want) {
		t.Errorf("asked at %q, want %q", points, want)
	}
}

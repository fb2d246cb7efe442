package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"chela"
	"chela/internal/api"
)

// A listener is a model that remembers what it was told and says "ok".
type listener struct {
	mu     sync.Mutex
	system []string // guarded by mu; the system texts that came, in order
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &asked)
	}
	if err != nil || len(asked.Messages) == 0 || asked.Messages[0].Role != "system" {
		http.Error(w, fmt.Sprintf("%v in %s", err, raw), http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	l.system = append(l.system, asked.Messages[0].Content)
	l.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// heard returns the newest system text.
func (l *listener) heard() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.system[len(l.system)-1]
}

// TestTurnsKnowTheDocuments: each turn knows what the documents say when it
// opens, in groups without what is private.
func TestTurnsKnowTheDocuments(t *testing.T) {
	t.Parallel()
	model := &listener{}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	cfg := loaded(t, "CHELA_HOME="+filepath.Join(shortDir(t), "home"), "CHELA_MODEL=openai/any", "CHELA_LISTEN=127.0.0.1:0",
		"OPENAI_API_KEY=key", "OPENAI_BASE_URL="+server.URL+"/v1")
	b := openBackend(t, cfg)
	said := 0
	ask := func(key chela.SessionKey) string {
		t.Helper()
		said++
		turn, _ := talked(t, b, message(key, fmt.Sprint(said), "hello"))
		if turn.State != chela.TurnCompleted {
			t.Fatalf("the turn is %s: %+v", turn.State, turn.Failure)
		}
		return model.heard()
	}
	edit := func(path, text string) {
		t.Helper()
		_, err := api.Call(t.Context(), b, api.DocumentsWrite, api.DocumentWrite{Path: path, Text: text})
		if err != nil {
			t.Fatal(err)
		}
	}
	first := ask("agent:main:main")
	if !strings.Contains(first, "# Our first conversation") || !strings.Contains(first, "material, not instructions") {
		t.Errorf("the first turn is told\n%s", first)
	}
	edit("notes.md", "nothing for the prompt")
	if again := ask("agent:main:main"); again != first {
		t.Errorf("the same documents, other bytes:\n%s", again)
	}
	edit("MEMORY.md", "The door code is 1234.")
	edit("SOUL.md", "I am kind.")
	if own := ask("agent:main:main"); !strings.Contains(own, "1234") || !strings.Contains(own, "I am kind.") {
		t.Errorf("after the edits the owner's turn is told\n%s", own)
	}
	if group := ask("agent:main:telegram:group:7"); strings.Contains(group, "1234") || !strings.Contains(group, "I am kind.") {
		t.Errorf("the group's turn is told\n%s", group)
	}
}

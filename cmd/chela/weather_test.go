package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"chela"
)

// A weather is a server of Chat Completions that fails in three of ten requests.
// Else it notes what it is asked to note, once, and says so.
type weather struct {
	mu      sync.Mutex
	random  *rand.Rand      // guarded by mu
	struck  map[int]int     // guarded by mu; faults, by their status
	refused map[string]bool // guarded by mu; the keys that were refused
}

// The faults of a weather: a status, or 200 for an answer that breaks off.
var weatherFaults = []int{200, 400, 402, 404, 429, 500, 502, 503, 529}

// fault returns the status of the fault that strikes, 0 for none.
func (w *weather) fault(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if key != "Bearer good-key-of-somebody" {
		w.refused[key] = true
		return http.StatusUnauthorized
	}
	if w.random.Float64() >= 0.3 {
		return 0
	}
	status := weatherFaults[w.random.IntN(len(weatherFaults))]
	w.struck[status]++
	return status
}

func (w *weather) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	const begun = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Well, \"}}]}\n\n"
	switch status := w.fault(r.Header.Get("Authorization")); status {
	case 0:
		rw.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(rw, noting(body)) //nolint:errcheck // the caller is gone
	case http.StatusOK:
		rw.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(rw, begun) //nolint:errcheck // the caller is gone
	default:
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Retry-After-Ms", "1")
		rw.WriteHeader(status)
		fmt.Fprintf(rw, `{"error":{"message":"the weather is %d"}}`, status)
	}
}

// noting is the answer to a request, as a stream: a call that notes what the newest
// message says, or after its result that this was done.
func noting(body []byte) string {
	var req struct {
		Messages []struct {
			Role    string
			Content any
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return ""
	}
	last := req.Messages[len(req.Messages)-1]
	delta, reason := map[string]any{"role": "assistant", "content": "Noted."}, "stop"
	if last.Role == "user" {
		args, _ := json.Marshal(map[string]any{"target": "memory", "content": fmt.Sprintf("- did %v\n", last.Content), "append": true})
		call := map[string]any{"index": 0, "id": "call_1", "type": "function", "function": map[string]any{"name": "memory_write", "arguments": string(args)}}
		delta, reason = map[string]any{"role": "assistant", "tool_calls": []any{call}}, "tool_calls"
	}
	chunk, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta}}})
	return fmt.Sprintf("data: %s\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", chunk, reason)
}

// TestWeather has the program talk to a model that fails often, with two keys of
// which one is refused: each turn completes or fails with a kind of trouble that the
// model had, and nothing is noted twice.
func TestWeather(t *testing.T) {
	t.Parallel()
	w := &weather{random: rand.New(rand.NewPCG(1, 2)), struck: map[int]int{}, refused: map[string]bool{}}
	srv := httptest.NewServer(w)
	t.Cleanup(srv.Close)
	run := weatherHome(t, srv.URL)
	const turns = 30
	completed := map[string]bool{}
	for i := range turns {
		name := fmt.Sprintf("thing-%d-", i)
		out, code := run("ask", "--json", "--approve", "always", "--session", fmt.Sprintf("agent:main:dm:%d", i), name)
		var answer struct {
			State   chela.TurnState
			Failure *chela.Failure
		}
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		kinds := []chela.Kind{chela.Invalid, chela.Exhausted, chela.NotFound, chela.Unavailable}
		switch {
		case answer.State == chela.TurnCompleted && code == 0:
			completed[name] = true
		case answer.State == chela.TurnFailed && code != 0 && slices.Contains(kinds, answer.Failure.Kind):
		default:
			t.Errorf("turn %d ended with %d: %s", i, code, out)
		}
	}
	notes, _ := run("memory", "read", "MEMORY.md")
	for i := range turns {
		name := fmt.Sprintf("thing-%d-", i)
		if n := strings.Count(notes, name); n > 1 || n == 0 && completed[name] {
			t.Errorf("%s was noted %d times", name, n)
		}
	}
	if len(completed) < turns/2 || len(completed) == turns || len(w.struck) < len(weatherFaults)/2 || len(w.refused) != 1 {
		t.Errorf("%d turns completed, faults %v, keys refused %v", len(completed), w.struck, w.refused)
	}
	t.Logf("%d of %d turns completed, faults by status: %v", len(completed), turns, w.struck)
}

// weatherHome makes a home whose model is behind a URL, and returns how commands run
// there.
func weatherHome(t *testing.T, address string) func(args ...string) (out string, code int) {
	t.Helper()
	binary, err := plainBinary()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	config := fmt.Sprintf("model = \"w/m\"\n[chain]\nfirst_wait = \"1ms\"\n[providers.w]\nkind = \"openai\"\nbase_url = %q\n"+
		"api_key = \"env:BAD_KEY\"\nkeys = [\"env:GOOD_KEY\"]\n", address)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) (string, int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Env = []string{"CHELA_HOME=" + home, "BAD_KEY=bad-key-of-nobody", "GOOD_KEY=good-key-of-somebody"}
		out, _ := cmd.Output() // the exit code tells
		return string(out), cmd.ProcessState.ExitCode()
	}
}

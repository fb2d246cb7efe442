package ollama_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider/ollama"
	"chela/internal/model/provider/ollama/ollamatest"
)

// canned answers requests for a path with what is next in its list, the last
// one again and again, and keeps what was sent to /api/chat.
type canned struct {
	next   map[string][]string // bodies, by path; a body may begin with a status, as in "400 {…}"
	header http.Header         // of the last request
	sent   []string
}

// talking is a server with one model of a family that answers with lines.
func talking(family string, window int, abilities []string, answers ...string) *canned {
	shown, err := json.Marshal(ollamatest.Describe(family, window, abilities...))
	if err != nil {
		panic(err) // it always has a JSON form
	}
	return &canned{next: map[string][]string{"/api/show": {string(shown)}, "/api/chat": answers}}
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if r.URL.Path == "/api/chat" {
			c.sent = append(c.sent, string(sent))
		}
	}
	c.header = r.Header
	status, body := http.StatusNotFound, `{"error":"no such path"}`
	if list := c.next[r.URL.Path]; len(list) > 0 {
		status, body = http.StatusOK, list[0]
		if len(list) > 1 {
			c.next[r.URL.Path] = list[1:]
		}
	}
	if refusal, ok := strings.CutPrefix(body, "400 "); ok {
		status, body = http.StatusBadRequest, refusal
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/x-ndjson"}}, Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

func reach(t testing.TB, c *canned, cfg ollama.Config) *ollama.Provider {
	t.Helper()
	cfg.Name, cfg.HTTPClient = "fake", &http.Client{Transport: c}
	p, err := ollama.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hello() *chela.Request {
	return &chela.Request{Model: "m", Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}}}
}

// over ends an answer.
const over = `{"model":"m:1","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":7}` + "\n"

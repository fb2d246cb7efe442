package push_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/background/push"
)

// A server is a server of ntfy with the wire of https://docs.ntfy.sh/publish: a
// protected topic, and messages by their sequence ids.
type server struct {
	*httptest.Server
	got    []map[string]any
	answer func(w http.ResponseWriter) bool // answers otherwise, and reports that it did
}

func newServer(t *testing.T) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.answer != nil && s.answer(w) {
			return
		}
		if r.Method != http.MethodPost || r.URL.Path != "/" {
			fail(w, 404, 40401, "page not found")
			return
		}
		switch r.Header.Get("Authorization") {
		case "Bearer tk_right":
		case "":
			fail(w, 403, 40301, "forbidden")
			return
		default:
			fail(w, 401, 40101, "unauthorized")
			return
		}
		body, err := io.ReadAll(r.Body)
		var m map[string]any
		if err = errors.Join(err, json.Unmarshal(body, &m)); err != nil || m["topic"] == "" {
			fail(w, 400, 40017, "invalid request: request body must be message JSON")
			return
		}
		s.got = append(s.got, m)
		answer := map[string]any{
			"id": "xE73Iyuabi", "time": 1673542291, "expires": 1673585491, "event": "message", "topic": m["topic"],
			"title": m["title"], "message": m["message"], "sequence_id": m["sequence_id"],
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// fail answers as ntfy does.
func fail(w http.ResponseWriter, status, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "http": status, "error": text, "link": "https://ntfy.sh/docs"})
}

// target returns a target of the topic secret-topic.
func (s *server) target(t *testing.T, change ...func(*push.NtfyConfig)) *push.Ntfy {
	t.Helper()
	at, err := url.Parse(s.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	cfg := push.NtfyConfig{
		Server: at, Topic: "secret-topic", Click: "https://chela.example/", Level: func(chela.NoticeKind) string { return "high" },
		Token: func(context.Context) (string, error) { return "tk_right", nil }, Rejected: func() {},
	}
	for _, c := range change {
		c(&cfg)
	}
	n, err := push.NewNtfy(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var question = push.Message{
	ID: "out_approval/apr_1/ntfy//", Kind: chela.NoticeApproval, Title: "chela: approval\x1b[1m needed\n…", Brief: "shell in süd\u202eseite",
	Text: "main: asks whether it may use shell: make <b>it</b>",
}

// TestNtfyPublishes a message as JSON: of a notice its title alone, unless the owner
// lets the text leave.
func TestNtfyPublishes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if err := s.target(t).Send(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	if err := s.target(t, func(c *push.NtfyConfig) { c.Full, c.Click = true, "" }).Send(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	id := s.got[0]["sequence_id"]
	want := []map[string]any{
		{
			"topic": "secret-topic", "title": "chela: approval[1m needed …", "message": "shell in südseite", "priority": 4.0, "tags": []any{"question"},
			"click": "https://chela.example/", "sequence_id": id,
		},
		{
			"topic": "secret-topic", "title": "chela: approval[1m needed …", "message": "main: asks whether it may use shell: make <b>it</b>", "priority": 4.0,
			"tags": []any{"question"}, "sequence_id": id,
		},
	}
	if diff := cmp.Diff(want, s.got); diff != "" {
		t.Errorf("published are (-want +got):\n%s", diff)
	}
	if text, _ := id.(string); len(text) > 64 || !strings.HasPrefix(text, "chela-") {
		t.Errorf("the sequence id is %v", id)
	}
	other := question
	other.ID = "out_2"
	if err := s.target(t).Send(t.Context(), other); err != nil || s.got[2]["sequence_id"] == id {
		t.Errorf("another message has the same sequence id %v (%v)", id, err)
	}
}

// TestNtfyRefuses tells refusals that stay from those that pass, without the topic.
func TestNtfyRefuses(t *testing.T) {
	t.Parallel()
	answer := func(status, code int, text string, header ...string) func(*server, *push.NtfyConfig) {
		return func(s *server, _ *push.NtfyConfig) {
			s.answer = func(w http.ResponseWriter) bool {
				for i := 0; i+1 < len(header); i += 2 {
					w.Header().Set(header[i], header[i+1])
				}
				fail(w, status, code, text)
				return true
			}
		}
	}
	token := func(value string) func(*server, *push.NtfyConfig) {
		return func(_ *server, c *push.NtfyConfig) {
			c.Token = func(context.Context) (string, error) { return value, nil }
		}
	}
	for name, test := range map[string]struct {
		change   func(*server, *push.NtfyConfig)
		kind     chela.Kind
		text     string
		after    time.Duration
		rejected bool
	}{
		"wrong token":  {change: token("tk_wrong"), kind: chela.Denied, text: "answered 401: unauthorized", rejected: true},
		"no token":     {change: token(""), kind: chela.Denied, text: "answered 403: forbidden", rejected: true},
		"too many":     {change: answer(429, 42901, "limit reached: too many requests"), kind: chela.Exhausted, text: "answered 429: limit reached"},
		"later":        {change: answer(429, 42908, "limit reached", "Retry-After", "90"), kind: chela.Exhausted, text: "429", after: 90 * time.Second},
		"much later":   {change: answer(429, 42908, "limit reached", "Retry-After", "9999999"), kind: chela.Exhausted, text: "429", after: 6 * time.Hour},
		"broken":       {change: answer(500, 50001, "internal server error"), kind: chela.Unavailable, text: "answered 500"},
		"wrong topic":  {change: answer(400, 40009, "invalid request: topic invalid"), kind: chela.Invalid, text: "topic invalid"},
		"too large":    {change: answer(413, 41303, "JSON body too large"), kind: chela.Invalid, text: "too large"},
		"moved":        {change: answer(301, 0, "", "Location", "https://elsewhere.example/"), kind: chela.Invalid, text: "301, a redirect"},
		"another path": {change: func(_ *server, c *push.NtfyConfig) { c.Server = c.Server.JoinPath("below/") }, kind: chela.NotFound, text: "404: page not found"},
		"another server": {
			change: func(s *server, _ *push.NtfyConfig) {
				s.answer = func(w http.ResponseWriter) bool { _, _ = io.WriteString(w, "<html>Welcome</html>"); return true }
			},
			kind: chela.Invalid, text: "did not answer as an ntfy server does",
		},
		"nowhere": {change: func(s *server, _ *push.NtfyConfig) { s.Close() }, kind: chela.Unavailable, text: "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, rejected := newServer(t), false
			n := s.target(t, func(c *push.NtfyConfig) {
				c.Rejected = func() { rejected = true }
				test.change(s, c)
			})
			err := n.Send(t.Context(), question)
			if chela.KindOf(err) != test.kind || !strings.Contains(chela.MessageOf(err), test.text) || strings.Contains(err.Error(), "secret-topic") {
				t.Errorf("the error is %v (%s)", err, chela.KindOf(err))
			}
			if asked, ok := errors.AsType[*push.Delay](err); ok != (test.kind == chela.Exhausted) || ok && asked.After != test.after {
				t.Errorf("the server asks for the delay %v", asked)
			}
			if rejected != test.rejected || len(s.got) > 0 {
				t.Errorf("rejected: %t, published: %v", rejected, s.got)
			}
		})
	}
}

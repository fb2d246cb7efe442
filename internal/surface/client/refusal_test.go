package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/client"
)

// What the daemon met with is the same error here, so that exit codes and
// lines of commands are too.
func TestErrorsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	denied := chela.E(chela.Denied, "the policy forbids it").WithHint("change the rules; see config.toml")
	const restart = "restart it, so that it is of the same version as the command"
	for _, tt := range []struct {
		name   string
		status int
		body   string
		kind   chela.Kind
		line   string
		hint   string
	}{
		{"with a hint", 403, bodyOf(denied, true), chela.Denied, chela.MessageOf(denied), denied.Hint},
		{"with the hint in the message alone", 403, bodyOf(denied, false), chela.Denied, chela.MessageOf(denied), ""},
		{"another kind than the status says", 413, bodyOf(chela.E(chela.Invalid, "too large"), true), chela.Invalid, "too large", ""},
		{
			"a fault of the daemon", 500, bodyOf(errors.New("secret detail"), true), chela.Internal,
			"internal error; look for req_1 in the log of the daemon", "look for req_1 in the log of the daemon",
		},
		{"not a body of chela", 404, "404 page not found\n", chela.Unsupported, "the daemon answers in words that this version does not know; " + restart, restart},
		{"a redirect", 301, "", chela.Unsupported, "the daemon answers in words that this version does not know; " + restart, restart},
		{"no JSON", 200, "<html>", chela.Unsupported, "the daemon answers in words that this version does not know; " + restart, restart},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body) //nolint:errcheck // who does not read it has gone
			}))
			_, err := api.Call(t.Context(), c, api.StatusShow, api.None{})
			if chela.KindOf(err) != tt.kind || chela.MessageOf(err) != tt.line || chela.HintOf(err) != tt.hint {
				t.Errorf("kind %s, line %q, hint %q;\nwant %s, %q, %q",
					chela.KindOf(err), chela.MessageOf(err), chela.HintOf(err), tt.kind, tt.line, tt.hint)
			}
		})
	}
}

// bodyOf writes an error as a gateway does, with its hint apart or not.
func bodyOf(err error, apart bool) string {
	e := api.Error{Kind: chela.KindOf(err), Message: chela.MessageOf(err), RequestID: "req_1"}
	if apart {
		e.Hint = chela.HintOf(err)
	}
	raw, _ := json.Marshal(api.ErrorBody{Error: e})
	return string(raw)
}

func TestWhatIsNotSent(t *testing.T) {
	t.Parallel()
	w, c := serve(t)
	for name, tt := range map[string]struct {
		kind chela.Kind
		call func(context.Context, *client.Client) error
	}{
		"a key that is none": {chela.Invalid, func(ctx context.Context, c *client.Client) error {
			_, err := api.Call(ctx, c, api.SessionsShow, api.SessionRef{Key: "main"})
			return err
		}},
		"threads of a key that is none": {chela.Invalid, func(ctx context.Context, c *client.Client) error {
			_, err := api.All(ctx, c, api.ThreadsList, api.ThreadFilter{Session: "main"})
			return err
		}},
		"change of no session": {chela.Invalid, func(ctx context.Context, c *client.Client) error {
			_, err := api.Call(ctx, c, api.SessionsChange, api.SessionChange{})
			return err
		}},
		"import into no session": {chela.Invalid, func(ctx context.Context, c *client.Client) error {
			_, err := c.Import(ctx, "", strings.NewReader("{}"))
			return err
		}},
		"a transcript that is too large": {chela.Invalid, func(ctx context.Context, c *client.Client) error {
			_, err := c.Import(ctx, "agent:main:main", strings.NewReader(strings.Repeat(" ", api.MaxTranscript+1)))
			return err
		}},
		"an empty name": {chela.NotFound, func(ctx context.Context, c *client.Client) error {
			_, err := api.Call(ctx, c, api.TurnsShow, api.TurnQuery{})
			return err
		}},
		"arguments that are not JSON": {chela.Invalid, func(ctx context.Context, c *client.Client) error {
			_, err := api.Call(ctx, c, api.ToolsRun, api.ToolRequest{Name: "a", Run: api.ToolRun{Args: json.RawMessage("{")}})
			return err
		}},
		"a file that is too large": {chela.Invalid, func(ctx context.Context, c *client.Client) error {
			_, err := c.Attach(ctx, "a", io.LimitReader(zeros{}, api.MaxAttachment+1))
			return err
		}},
		"a file that cannot be read": {chela.Unavailable, func(ctx context.Context, c *client.Client) error {
			_, err := c.Attach(ctx, "a", iotest.ErrReader(io.ErrUnexpectedEOF))
			return err
		}},
		"a list without an end": {chela.Unsupported, func(ctx context.Context, _ *client.Client) error {
			_, again := serve(t, api.Page[chela.Session]{Next: "x"}, api.Page[chela.Session]{Next: "x"})
			_, err := api.All(ctx, again, api.SessionsList, api.SessionFilter{})
			return err
		}},
	} {
		if err := tt.call(t.Context(), c); chela.KindOf(err) != tt.kind {
			t.Errorf("%s: %v, want the kind %s", name, err, tt.kind)
		}
	}
	if len(w.got) != 0 {
		t.Errorf("asked %v", w.got)
	}
}

// zeros is a file without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// A daemon that breaks off an answer gave none.
func TestAnAnswerThatBreaksOff(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 503} {
		c := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/healthz" {
				return
			}
			w.WriteHeader(status)
			io.WriteString(w, `{"home":`) //nolint:errcheck // who does not read it has gone
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}))
		_, err := api.Call(t.Context(), c, api.StatusShow, api.None{})
		if chela.KindOf(err) != chela.Unavailable || !strings.Contains(chela.MessageOf(err), "the daemon does not answer; see chela status") {
			t.Errorf("status %d: %v, want no answer", status, err)
		}
	}
}

func TestACommandEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := listen(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			cancel()
			<-r.Context().Done()
		}
	}))
	if _, err := api.Call(ctx, c, api.StatusShow, api.None{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/hook"
)

func TestRules(t *testing.T) {
	t.Parallel()
	inbound := hook.Moment{Point: chela.HookBeforeInbound, Text: "my card is 1234-5678, ok"}
	call := hook.Moment{Point: chela.HookBeforeToolCall, Tool: "shell", Args: json.RawMessage(`{"command":"rm a"}`)}
	for _, c := range []struct {
		name string
		spec hook.Spec
		m    hook.Moment
		want string
	}{
		{"no match", hook.Spec{Match: "secret", Reject: true}, inbound, "my card is 1234-5678, ok"},
		{"replaced", hook.Spec{Match: `(\d{4})-\d{4}`, Replace: "$1-…"}, inbound, "my card is 1234-…, ok"},
		{"taken out", hook.Spec{Match: ` is [-\d]+`}, inbound, "my card, ok"},
		{"refused", hook.Spec{Match: `\d{4}`, Reject: true}, inbound, "the hook hooks[1] refused it"},
		{"refused with a reason", hook.Spec{Name: "cards", Match: `\d{4}`, Reject: true, Reason: "no cards"}, inbound, "the hook cards refused it: no cards"},
		{"arguments", hook.Spec{Match: `rm `, Replace: "rm -i "}, call, `{"command":"rm -i a"}`},
		{"arguments that end up broken", hook.Spec{Match: `"}`, Replace: ""}, call, "the hook hooks[1] refused it: it failed"},
		{"another tool", hook.Spec{Match: `rm `, Reject: true, Tool: "http"}, call, `{"command":"rm a"}`},
		{"this tool", hook.Spec{Match: `rm `, Reject: true, Tool: "shell"}, call, "the hook hooks[1] refused it"},
		{"another channel", hook.Spec{Match: `rm `, Reject: true, Channel: "telegram"}, call, `{"command":"rm a"}`},
		{"another agent", hook.Spec{Match: `rm `, Reject: true, Agent: "cook"}, call, `{"command":"rm a"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.spec.Point = c.m.Point
			v := newRig(t, c.spec).fire(c.m)
			got := v.Text + string(v.Args)
			if v.Refused != "" {
				got = v.Refused
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// Each hook sees what the one before made; a refusal ends it.
func TestHooksInTheirOrder(t *testing.T) {
	t.Parallel()
	at := chela.HookTransform
	r := newRig(t,
		hook.Spec{Name: "one", Point: at, Match: "a", Replace: "b"},
		hook.Spec{Name: "other point", Point: chela.HookBeforeInbound, Match: "b", Reject: true},
		hook.Spec{Name: "two", Point: at, Match: "b", Replace: "c"},
		hook.Spec{Name: "three", Point: at, Match: "c", Reject: true},
		hook.Spec{Name: "four", Point: at, Match: "c", Replace: "d"},
	)
	v := r.fire(hook.Moment{Point: at, Text: "a", Session: "agent:main:main", Turn: "turn_1"})
	if v.Refused != "the hook three refused it" || v.Text != "c" {
		t.Errorf("verdict %+v", v)
	}
	want := []string{
		"hook at transform_response: one changed it", "hook at transform_response: two changed it",
		"hook at transform_response: three refused it",
	}
	if diff := cmp.Diff(want, r.told()); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

// What a hook is told are these fields and no others.
func TestMomentOnTheWire(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 1)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v, %v", r.Method, r.Header, err)
		}
		bodies <- string(raw)
	})
	r := newRig(t, hook.Spec{Point: chela.HookBeforeToolCall, URL: url})
	r.fire(hook.Moment{
		Point: chela.HookBeforeToolCall, Session: "agent:main:main", Thread: "thr_1", Turn: "turn_1", Agent: "main",
		Channel: "terminal", Sender: "owner", Tool: "calc", Args: json.RawMessage(`{"expression":"1+1"}`),
	})
	const want = `{"point":"before_tool_call","session":"agent:main:main","thread":"thr_1","turn":"turn_1","agent":"main",` +
		`"channel":"terminal","sender":"owner","tool":"calc","args":{"expression":"1+1"}}`
	if diff := cmp.Diff(want, <-bodies); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestModifiedArguments(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"action":"modify","args":{"expression":"2+2"}}`: `{"expression":"2+2"}`,
		`{"action":"modify","args":[1]}`:                  "the hook hooks[1] refused it: it failed",
		`{"action":"modify","args":null}`:                 "the hook hooks[1] refused it: it failed",
		`{"action":"modify","text":"2+2"}`:                "the hook hooks[1] refused it: it failed",
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(answer)) })
		v := newRig(t, hook.Spec{Point: chela.HookBeforeToolCall, URL: url}).
			fire(hook.Moment{Point: chela.HookBeforeToolCall, Tool: "calc", Args: json.RawMessage(`{"expression":"1+1"}`)})
		got := string(v.Args)
		if v.Refused != "" {
			got = v.Refused
		}
		if got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}

// Who is only told is told in order, and Run waits for it.
func TestPassed(t *testing.T) {
	t.Parallel()
	var sessions []string
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		var m hook.Moment
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		sessions = append(sessions, string(m.Session))
	})
	r := newRig(t, hook.Spec{Point: chela.HookSessionStart, URL: url})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, key := range []chela.SessionKey{"a", "b", "c"} {
		r.hooks.Passed(chela.HookSessionStart, key, "thr_1", "")
		r.hooks.Passed(chela.HookSessionEnd, key, "thr_1", "reset") // nobody listens
	}
	if err := r.hooks.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, sessions); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestPassedAtTheEnd: however many wait and hang, the end is not held up.
func TestPassedAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, began := range []bool{false, true} {
		t.Run(fmt.Sprintf("began %v", began), func(t *testing.T) {
			t.Parallel()
			arrived := make(chan struct{}, 3)
			url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // only then a server sees that the client is gone
				arrived <- struct{}{}
				<-r.Context().Done()
			})
			h, err := hook.New([]hook.Spec{{Point: chela.HookSessionStart, URL: url, Timeout: time.Hour}}, hook.Config{
				Now: time.Now, Emit: func(chela.Event) {}, Log: slog.New(slog.DiscardHandler), Rest: 50 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				h.Passed(chela.HookSessionStart, "a", "thr_1", "")
			}
			ctx, cancel := context.WithCancel(t.Context())
			if !began {
				cancel()
			}
			ended := make(chan error, 1)
			go func() { ended <- h.Run(ctx) }()
			<-arrived
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNoHooks(t *testing.T) {
	t.Parallel()
	var none *hook.Hooks
	m := hook.Moment{Point: chela.HookTransform, Text: "a"}
	if v := none.Fire(t.Context(), m); v.Text != "a" || v.Refused != "" || none.Any(m) {
		t.Errorf("verdict %+v", v)
	}
	none.Passed(chela.HookSessionStart, "a", "", "")
	if in, err := none.Message(t.Context(), chela.Inbound{Text: "a"}); in.Text != "a" || err != nil {
		t.Errorf("message %+v, %v", in, err)
	}
	if err := none.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestUnusableSpecs(t *testing.T) {
	t.Parallel()
	for _, s := range []hook.Spec{{}, {Match: "("}, {URL: "ftp://x"}, {URL: "x"}, {URL: ":"}} {
		if _, err := hook.New([]hook.Spec{s}, hook.Config{}); chela.KindOf(err) != chela.Invalid {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

package edge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway/edge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMeter(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	m := edge.NewMeter(6, func() time.Time { return now })
	take := func(sender string, want bool, after time.Duration) {
		t.Helper()
		got, ok := m.Take(sender)
		if ok != want || got.Round(time.Millisecond) != after {
			t.Errorf("%s: %v after %v, want %v after %v", sender, ok, got, want, after)
		}
	}
	for range 6 {
		take("a", true, 0)
	}
	take("a", false, 10*time.Second)
	take("b", true, 0)
	now = now.Add(4 * time.Second)
	take("a", false, 6*time.Second)
	now = now.Add(-time.Hour) // a clock that goes back gives nothing
	take("a", false, 6*time.Second)
	now = now.Add(6 * time.Second)
	take("a", true, 0)
	take("a", false, 10*time.Second)
	now = now.Add(24 * time.Hour)
	for range 6 {
		take("a", true, 0)
	}
	take("a", false, 10*time.Second)
}

// TestMeterForgets checks that a flood of senders takes little memory, and that
// those who rest go first.
func TestMeterForgets(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	m := edge.NewMeter(1, func() time.Time { return now })
	for i := range 9_999 {
		m.Take(fmt.Sprint("rests ", i))
	}
	now = now.Add(time.Hour)
	m.Take("works")
	for i := range 5_000 {
		m.Take(fmt.Sprint("new ", i))
	}
	if _, ok := m.Take("works"); ok {
		t.Error("who works was forgotten before those who rest")
	}
	for i := range 50_000 {
		m.Take(fmt.Sprint("flood ", i))
	}
	if n := m.Len(); n > 10_000 {
		t.Errorf("%d senders are remembered", n)
	}
}

func TestMeterWithoutLimit(t *testing.T) {
	t.Parallel()
	m := edge.NewMeter(0, nil)
	for range 1000 {
		if _, ok := m.Take("a"); !ok {
			t.Fatal("there is a limit")
		}
	}
}

func TestRoutesNeedAScope(t *testing.T) {
	t.Parallel()
	for _, scope := range []chela.Scope{"", "root"} {
		_, err := edge.New(edge.Config{}, []edge.Route{{Route: api.Route{Method: "GET", Path: "/x", Scope: scope}}})
		if chela.KindOf(err) != chela.Internal {
			t.Errorf("scope %q: %v", scope, err)
		}
	}
}

// TestCaller names who asks: only what comes from a page counts as typed by a person,
// and the owner has no account.
func TestCaller(t *testing.T) {
	t.Parallel()
	ann := chela.Token{ID: "tok_1", Name: "ann", Scope: chela.ScopeChat}
	theirs := chela.Origin{Channel: api.Channel, Account: "tok_1", Sender: "ann", Owner: true}
	for name, c := range map[string]struct {
		visit edge.Visit
		want  api.Caller
	}{
		"a token": {
			edge.Visit{By: edge.Asker{Token: ann, Secret: "secret"}},
			api.Caller{By: "token ann (tok_1)", Scope: chela.ScopeChat, Origin: theirs, Account: "tok_1"},
		},
		"a page": {
			edge.Visit{By: edge.Asker{Token: ann, Cookie: "page"}},
			api.Caller{By: "token ann (tok_1)", Scope: chela.ScopeChat, Origin: theirs, Account: "tok_1", Input: chela.InputTyped},
		},
		"the owner": {
			edge.Visit{Owner: true, By: edge.Asker{Token: chela.Token{Name: "owner", Scope: chela.ScopeAdmin}}},
			api.Caller{By: "owner", Scope: chela.ScopeAdmin, Origin: chela.Origin{Channel: api.SocketChannel, Owner: true}},
		},
	} {
		if diff := cmp.Diff(c.want, c.visit.Caller()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// FuzzDecode takes any bytes for the body of a message: what is accepted is what
// a strict reader of JSON accepts too, and holds nothing that no database keeps.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"text":"hi"}`, `{"text":"a\u0000b"}`, `{"text":"a\\u0000b"}`, `{"text":"\\\u0000"}`, "{\"text\":\"\xff\"}", `{} {}`, `[`, `null`, "",
		`{"text":"x","attachments":[{"name":"a","content":"aGk="}]}`, `{"txet":1}`, `{"text":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m api.Message
		if err := edge.DecodeMessage(raw, &m); err != nil {
			var known *chela.Error
			if !errors.As(err, &known) || known.Kind != chela.Invalid || known.Msg == "" {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("%q is no JSON", raw)
		}
		for _, text := range []string{m.Text, m.MessageID, m.Agent, m.Model, string(m.Session), string(m.Thread)} {
			for _, r := range text {
				if r == 0 {
					t.Fatalf("%q lets a NUL through", raw)
				}
			}
		}
	})
}

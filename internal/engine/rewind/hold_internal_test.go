package rewind

import (
	"encoding/json"
	"testing"
	"time"

	"chela"
	"chela/internal/platform/local"
)

// TestLeftAfterHalfAMinute: a rewind of an unknown node is abandoned when it was not
// renewed for more than 30 s, one of this node always.
func TestLeftAfterHalfAMinute(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := New(nil, Config{Process: local.Process{Node: "node_1", Now: func() time.Time { return now }}})
	for _, c := range []struct {
		node chela.NodeID
		age  time.Duration
		want bool
	}{
		{"node_2", 0, false},
		{"node_2", 30 * time.Second, false},
		{"node_2", 30*time.Second + time.Microsecond, true},
		{"node_1", 0, true},
	} {
		if got := m.left(chela.Rewind{Node: c.node, RenewedAt: now.Add(-c.age)}); got != c.want {
			t.Errorf("a rewind of %s renewed %v ago: abandoned %v, want %v", c.node, c.age, got, c.want)
		}
	}
}

// TestClaim: one goroutine at a time has a rewind.
func TestClaim(t *testing.T) {
	t.Parallel()
	m := New(nil, Config{})
	for i, want := range []bool{true, false} {
		if got := m.claim("rew_1"); got != want {
			t.Errorf("claim %d: %v, want %v", i+1, got, want)
		}
	}
	if !m.claim("rew_2") {
		t.Error("another rewind cannot be claimed")
	}
	m.letGo("rew_1")
	if !m.claim("rew_1") {
		t.Error("a rewind that was let go cannot be claimed")
	}
}

// TestPreview: a call is described by its own tool, or by its arguments if that has no
// description.
func TestPreview(t *testing.T) {
	t.Parallel()
	says := func(text string) func(json.RawMessage) chela.Judgement {
		return func(json.RawMessage) chela.Judgement { return chela.Judgement{Preview: text} }
	}
	m := New(nil, Config{Tools: []chela.Tool{
		{Name: "mute"}, {Name: "first", Judge: says("the first")}, {Name: "second", Judge: says("the second")}, {Name: "silent", Judge: says("")},
	}})
	for tool, want := range map[string]string{
		"first": "the first", "second": "the second", "mute": `{"n":1}`, "silent": `{"n":1}`, "unknown": `{"n":1}`,
	} {
		if got := m.preview(chela.ToolCall{Tool: tool, Args: []byte(`{"n":1}`)}); got != want {
			t.Errorf("a call of %s is described by %q, want %q", tool, got, want)
		}
	}
}

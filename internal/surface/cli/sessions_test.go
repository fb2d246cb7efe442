package cli_test

import (
	"strings"
	"testing"
	"time"

	"chela"
)

// TestSessionsAreSorted: the most recently used session comes first.
func TestSessionsAreSorted(t *testing.T) {
	t.Parallel()
	h := &home{more: []chela.Session{{Key: "agent:main:dm:new", UpdatedAt: day.Add(time.Hour)}, {Key: "agent:main:dm:old", UpdatedAt: day.Add(-time.Hour)}}}
	r := h.run(t, "", "sessions", "list")
	var keys []string
	for line := range strings.Lines(r.out) {
		if key := strings.Fields(line)[0]; strings.HasPrefix(key, "agent:") {
			keys = append(keys, key)
		}
	}
	if got := strings.Join(keys, " "); got != "agent:main:dm:new agent:main:main agent:main:dm:old" {
		t.Errorf("the order is %s", got)
	}
}

// TestEmptySessionKeyIsRefused: it does not stand for the main session.
func TestEmptySessionKeyIsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"threads", "list", "--session", ""},
		{"threads", "new", "--session", ""},
		{"sessions", "reset", ""},
		{"sessions", "show", ""},
		{"sessions", "set", "", "label=x"},
	} {
		if r := new(home).run(t, "", args...); r.code != 2 || !strings.Contains(r.err, `""`) || !strings.Contains(r.err, "key such as") {
			t.Errorf("%v: %d %s", args, r.code, r.err)
		}
	}
}

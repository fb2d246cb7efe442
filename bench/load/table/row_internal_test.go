package table

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMisses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		row  row
		want bool
	}{
		{"no target", found("a", 5, ""), false},
		{"at most", found("a", 5, "").atMost(5), false},
		{"more", found("a", 5.1, "").atMost(5), true},
		{"at least", found("a", 5, "").atLeast(5), false},
		{"less", found("a", 4.9, "").atLeast(5), true},
		{"failed", missing("a", errors.New("x")), true},
		{"only elsewhere", side(nil, []row{found("a", 5, "").atLeast(6)}, 1)[0], false},
	} {
		if got := tt.row.misses(); got != tt.want {
			t.Errorf("%s: misses %v", tt.name, got)
		}
	}
}

func TestPrintTable(t *testing.T) {
	t.Parallel()
	first := []row{
		found("turns", 600, perSecond).atLeast(500).with("p95 %d | 3", 2),
		found("soak", 1.2, "x").atMost(1.1),
		missing("events", errors.New("no\nway")),
	}
	second := []row{found("turns", 150, perSecond).atLeast(500), found("events", 3, "ms"), found("extra", 7, "").atLeast(6)}
	rows := side(side(nil, first, 0), second, 1)
	rows = append(rows, compared(rows)...)
	var out strings.Builder
	printTable(&out, []string{"SQLite", "PostgreSQL"}, rows)
	want := `| measured | SQLite | PostgreSQL | target | |
|---|---|---|---|---|
| turns | 600 turns/s (p95 2 / 3) | 150 turns/s | ≥ 500 | ok |
| soak | 1.20 x |  | ≤ 1.10 | missed |
| events | (failed: no way) | 3 ms |  | missed |
| extra |  | 7 | ≥ 6 |  |
| turns, PostgreSQL over SQLite | 0.25 |  | ≥ 0.50 | missed |
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestSpeech(t *testing.T) {
	t.Parallel()
	s := &speech{heard: make(chan string, 1)}
	for _, text := range []string{"getting ready\nlistening on http://127.0.0.1:12", "345 (see http://x.example:80)\n", "http://other:1\n"} {
		if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("wrote %d, error %v", n, err)
		}
	}
	if got := <-s.heard; got != "http://127.0.0.1:12345" || len(s.heard) != 0 {
		t.Errorf("heard %q", got)
	}
	fmt.Fprintln(s, strings.Repeat("x", 2*memory)+"the end")
	if got := s.String(); len(got) > memory || !strings.HasSuffix(got, "xthe end") {
		t.Errorf("%d bytes kept", len(got))
	}
}

package mark_test

import (
	"testing"

	"chela/bench/load/mark"
)

func TestLast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"none", "hello", ""},
		{"empty", "", ""},
		{"alone", "load-7", "load-7"},
		{"inside JSON", `[{"text":"say load-12"}]`, "load-12"},
		{"the last of two", "load-1 load-23.", "load-23"},
		{"prefix without number", "load-4 load-", "load-4"},
		{"only a prefix", "load-x", ""},
		{"overlapping", "load-load-5", "load-5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := string(mark.Last([]byte(tt.text))); got != tt.want {
				t.Errorf("Last(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answer string
		n      int64
		want   bool
	}{
		{"load-12 hello", 12, true},
		{"load-12 hello", 1, false},
		{"load-12 hello", 123, false},
		{"hello", 12, false},
	} {
		if got := mark.In(tt.answer, tt.n); got != tt.want {
			t.Errorf("In(%q, %d) = %v", tt.answer, tt.n, got)
		}
	}
	if !mark.In("x "+mark.Of(1<<40), 1<<40) {
		t.Error("a mark does not find itself")
	}
}

package nearest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/platform/nearest"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"help", "help", 0},
		{"", "help", 4},
		{"help", "", 4},
		{"hel", "help", 1},
		{"helpp", "help", 1},
		{"hulp", "help", 1},
		{"hlep", "help", 1},
		{"ehpl", "help", 2},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3},
	}
	for _, tt := range tests {
		if got := nearest.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	names := []string{"read_file", "write_file", "list", "echo", "Calc"}
	tests := []struct {
		word string
		most int
		want []string
	}{
		{"ehco", 3, []string{"echo"}},
		{"file", 3, []string{"read_file", "write_file"}},
		{"file", 1, []string{"read_file"}},
		{"CALC", 3, []string{"Calc"}},
		{"frobnicate", 3, []string{}},
		{"", 3, []string{}},
		{strings.Repeat("x", 101), 3, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, nearest.Names(tt.word, names, tt.most)); diff != "" {
			t.Errorf("Names(%.20q) (-want +got):\n%s", tt.word, diff)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	names := []string{"limits.steps", "limits", "model"}
	tests := []struct{ word, want string }{
		{"limits.stpes", "limits.steps"}, {"limitz", "limits"}, {"mdoel", "model"}, {"colour", ""}, {"", ""},
	}
	for _, tt := range tests {
		if got := nearest.Name(tt.word, names); got != tt.want {
			t.Errorf("Name(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}

package jobcopy

import (
	"strings"
	"testing"
)

// TestMergeLines: changes of different lines are merged, those of the same lines or of
// lines side by side are not.
func TestMergeLines(t *testing.T) {
	t.Parallel()
	const was = "a\nb\nc\nd\ne\n"
	for name, tt := range map[string]struct{ a, b, want, why string }{
		"apart":               {"A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n", ""},
		"insertion, deletion": {"a\nb\nnew\nc\nd\ne\n", "a\nb\nc\nd\n", "a\nb\nnew\nc\nd\n", ""},
		"the same change":     {"a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n", ""},
		"the same and others": {"a\nB\nc\nd\nE\n", "a\nB\nc\nd\ne\n", "a\nB\nc\nd\nE\n", ""},
		"one line":            {"a\nX\nc\nd\ne\n", "a\nY\nc\nd\ne\n", "", "at line 2"},
		"side by side":        {"a\nX\nc\nd\ne\n", "a\nb\nY\nd\ne\n", "", "at line 3"},
		"two insertions":      {"a\nX\nb\nc\nd\ne\n", "a\nY\nb\nc\nd\ne\n", "", "at line 2"},
		"deleted and changed": {"a\ne\n", "a\nb\nC\nd\ne\n", "", "same lines"},
		"at the end":          {"a\nb\nc\nd\ne\nf", "a\nb\nc\nd\ne\ng", "", "at line 6"},
		"binary":              {"a\x00", "b", "", "no text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, order := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
				got, why := mergeLines([]byte(was), []byte(order[0]), []byte(order[1]))
				if string(got) != tt.want || (why == "") != (tt.why == "") || !strings.Contains(why, tt.why) {
					t.Errorf("%q and %q: %q, %q; want %q, %q", order[0], order[1], got, why, tt.want, tt.why)
				}
			}
		})
	}
}

// TestLeadsOut: a link may name a file of its folder only, by a relative path.
func TestLeadsOut(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]bool{
		"a": false, "../a": false, "b/../c": false, "../../a": true, "../..": true, "/etc/passwd": true, "x/../../../y": true, `..\..\a`: true, `C:\a`: true,
	} {
		if got := leadsOut("d/link", target); got != want {
			t.Errorf("%s leads out: %v", target, got)
		}
	}
}

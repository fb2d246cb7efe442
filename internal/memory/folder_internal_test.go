package memory

import (
	"strings"
	"testing"

	"chela"
)

func TestCleanFolder(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", ".": "", "/": "", "daily": "daily/", "Daily/": "daily/", "projects/a": "projects/a/", "a//b/": "a/b/",
	} {
		if got, err := cleanFolder(in); got != want || err != nil {
			t.Errorf("%q is %q and %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"..", "/daily", "a/../b", "a\x00", "MEMORY.md", strings.Repeat("a", 300)} {
		if got, err := cleanFolder(in); chela.KindOf(err) != chela.Invalid || got != "" {
			t.Errorf("%q is %q and %v, want Invalid", in, got, err)
		}
	}
}

package rewind

import (
	"strings"
	"testing"
)

// TestClip: a call is described by its first line, up to 300 bytes and in whole
// characters.
func TestClip(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 300)
	for text, want := range map[string]string{
		"": "", " \n run it \n": "run it", "run it\nand more": "run it …", long: long, long + "a": long + " …", long + "\nmore": long + " …",
		long[1:] + "é": long[1:] + " …",
	} {
		if got := clip(text); got != want {
			t.Errorf("%q is shortened to %q, want %q", text, got, want)
		}
	}
}

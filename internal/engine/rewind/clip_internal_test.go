package rewind

import (
	"strings"
	"testing"

	"chela"
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

// TestDifferencesAreCut: a refusal shows 64 KiB of differences, and says if there are
// more.
func TestDifferencesAreCut(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	whole := strings.Repeat("a", most)
	for text, want := range map[string]string{
		whole[1:]: whole[1:], whole: whole, whole + "a": whole + "\n[more is not shown]\n", whole[1:] + "é": whole[1:] + "\n[more is not shown]\n",
	} {
		f := differences{names: []string{"a"}, text: text}
		if got := chela.DetailOf(f.refusal()); got != want {
			t.Errorf("of %d bytes %d are shown, which end with %q; want %d", len(text), len(got), got[len(got)-30:], len(want))
		}
	}
	if err := (&differences{}).refusal(); err != nil {
		t.Errorf("no differences are refused: %v", err)
	}
}

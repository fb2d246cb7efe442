package snapshot

import (
	"fmt"
	"strings"
	"testing"

	"chela"
)

// TestLimitsOfCopies: a small workspace is copied as a whole, a larger one without ignored
// files but with its .git, and one beyond the limits not at all.
func TestLimitsOfCopies(t *testing.T) {
	t.Parallel()
	many := func(n int, size int64, ignored bool) *folder {
		f := &folder{Entries: make([]entry, n)}
		for i := range f.Entries {
			f.Entries[i] = entry{Name: fmt.Sprint("f", i), Kind: regular, Size: size, Links: 1, Ignored: ignored}
		}
		return f
	}
	const mib = 1 << 20
	for name, tt := range map[string]struct {
		now, ignored tree
		files        int
		leaves       bool // ignored files
		refused      string
	}{
		"small":            {tree{".": many(1000, 10, false)}, tree{"out": many(1000, 10, true)}, 2000, false, ""},
		"many files":       {tree{".": many(wholeFiles, 10, false)}, tree{"out": many(1, 10, true)}, wholeFiles, true, ""},
		"many bytes":       {tree{".": many(2, 200*mib, false)}, tree{"out": many(1, 200*mib, true)}, 2, true, ""},
		"a .git is copied": {tree{".": many(wholeFiles, 10, false)}, tree{".git/objects": many(5, 10, true)}, wholeFiles + 5, false, ""},
		"too many files":   {tree{".": many(maxCopied+1, 10, false)}, nil, 0, false, "100001 files"},
		"too many bytes":   {tree{".": many(3, 1000*mib, false)}, nil, 0, false, "3000 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := copying{}
			c, err := k.plan(tt.now, tt.ignored)
			if tt.refused != "" {
				if chela.KindOf(err) != chela.Invalid || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("error %v, want %q", err, tt.refused)
				}
				return
			}
			if err != nil || c.Files != tt.files || strings.Contains(k.leftOut(), "ignored") != tt.leaves {
				t.Errorf("%+v, %q, error %v; want %d files", c, k.leftOut(), err, tt.files)
			}
		})
	}
}

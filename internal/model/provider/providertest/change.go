package providertest

import (
	"strings"
	"testing"
)

// A Change makes a good request one that a server must refuse: its name, what is
// replaced in the body (nothing if empty), by what, and what the refusal says
// (empty if there is none).
type Change [4]string

// CheckChanges shows that a server refuses what the real one refuses: read gets
// the body of a good request with each of the changes made, and returns why it
// is refused.
func CheckChanges(t *testing.T, good string, changes []Change, read func(body string) error) {
	t.Helper()
	for _, c := range changes {
		name, old, changed, want := c[0], c[1], c[2], c[3]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if old != "" && strings.Count(good, old) != 1 {
				t.Fatalf("%q is in the request %d times", old, strings.Count(good, old))
			}
			err := read(strings.Replace(good, old, changed, 1))
			switch {
			case want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

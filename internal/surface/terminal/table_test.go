package terminal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/internal/surface/terminal"
)

func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := &terminal.Screen{Out: &out}
	s.Table("KEY\tLABEL", [][]any{{"a\nb", time.Time{}}, {"longer", "x\x1b" + strings.Repeat("y", 200)}})
	s.Fields("key", "a", "left out", "", "label", "b\tc")
	want := "KEY     LABEL\na b\nlonger  x\\x1b" + strings.Repeat("y", 94) + "…\n" + "key    a\nlabel  b c\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

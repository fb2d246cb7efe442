package chela_test

import (
	"testing"

	"chela"
)

func TestCursorParts(t *testing.T) {
	t.Parallel()
	tx, row, place, err := chela.NewCursor(7, 1234567890123, 2).Parts()
	if tx != 7 || row != 1234567890123 || place != 2 || err != nil {
		t.Errorf("got %d, %d, %d, %v back", tx, row, place, err)
	}
	for _, bad := range []chela.Cursor{"", "1", "1.2", "1.2.", "1.2.3.4", "-1.2.3", "1.2.x", "1.2.99999999999", "1..3", " 1.2.3", "9999999999999999999.1.1"} {
		if _, _, _, err := bad.Parts(); chela.KindOf(err) != chela.Invalid {
			t.Errorf("Parts of %q: %v, want Invalid", bad, err)
		}
	}
}

func TestCursorOrder(t *testing.T) {
	t.Parallel()
	ordered := []chela.Cursor{"0.1.0", "0.2.0", "0.2.1", "0.10.0", "3.4.0", "20.1.0"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := a.Compare(b), min(max(i-j, -1), 1); got != want {
				t.Errorf("%s to %s: %d, want %d", a, b, got, want)
			}
		}
	}
}

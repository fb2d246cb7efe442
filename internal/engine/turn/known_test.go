package turn_test

import (
	"testing"

	"chela"
)

// TestKnownAnswerIsNoCall: an answer for which nobody was asked is no row of the
// ledger, and says of no tokens. One of which nobody counted the tokens is.
func TestKnownAnswerIsNoCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known bool
		rows  int
	}{"known": {true, 0}, "not counted": {false, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, finish(chela.Finish{Text: "there", Stop: chela.StopEnd, Known: c.known}))
			r.mustRun(chela.TurnCompleted)
			if n := len(r.book.usage); n != c.rows {
				t.Errorf("the ledger has %d rows, want %d", n, c.rows)
			}
			if u := r.book.entries[1].Answer().Usage; (u == nil) != c.known {
				t.Errorf("the answer says that it took %+v", u)
			}
		})
	}
}

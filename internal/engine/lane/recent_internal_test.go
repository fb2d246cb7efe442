package lane

import (
	"fmt"
	"strings"
	"testing"

	"chela"
)

// TestRecentOutput: the output of a turn that has just completed with one answer is handed
// out once, without a look at the database; others are read.
func TestRecentOutput(t *testing.T) {
	t.Parallel()
	var recent RecentTurns
	turns := NewTurns(nil, board{}, &recent) // without a database every look at it panics
	put := func(id chela.TurnID, state chela.TurnState, steps int, text string) {
		recent.Put(chela.Turn{ID: id, State: state, Steps: steps}, []chela.Entry{{Turn: id, Body: chela.UserBody{Text: text}}})
	}
	has := func(id chela.TurnID) (found bool) {
		defer func() { found = recover() == nil && found }()
		tr, err := turns.Output(t.Context(), id)
		return err == nil && tr.Turn.ID == id && len(tr.Entries) == 1
	}
	put("one", chela.TurnCompleted, 1, "hello")
	put("calls", chela.TurnCompleted, 2, "hello")
	put("failed", chela.TurnFailed, 1, "hello")
	put("long", chela.TurnCompleted, 1, strings.Repeat("a", 16<<10+1))
	for _, c := range []struct {
		id   chela.TurnID
		want bool
	}{{"one", true}, {"one", false}, {"calls", false}, {"failed", false}, {"long", false}, {"none", false}} {
		if got := has(c.id); got != c.want {
			t.Errorf("turn %s is kept: %v, want %v", c.id, got, c.want)
		}
	}
	for i := range 300 {
		put(chela.TurnID(fmt.Sprint(i)), chela.TurnCompleted, 1, "hello")
	}
	for i, want := range map[int]bool{0: false, 43: false, 44: true, 299: true} {
		if got := has(chela.TurnID(fmt.Sprint(i))); got != want {
			t.Errorf("turn %d of 300 is kept: %v, want %v", i, got, want)
		}
	}
}

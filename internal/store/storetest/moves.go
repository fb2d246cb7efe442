package storetest

import (
	"fmt"
	"slices"
	"testing"

	"chela"
	"chela/internal/store"
)

// A mover tries the moves of a noun with states of type S on rows that are
// told apart by a number.
type mover[S ~string] struct {
	states []S
	from   []S // states that a caller of move may believe the row in

	legal func(from, to S) bool
	add   func(w *store.Write, n int, state S) error
	move  func(w *store.Write, n int, from, to S) error
	state func(r *store.Read, n int) (S, error)
}

// check tries every move on a row that is where the mover believes it, and
// every legal move on rows that are somewhere else. Illegal moves are faults
// of the caller, lost races are conflicts, and neither changes the row.
func (m mover[S]) check(t *testing.T, s *store.Store) {
	t.Helper()
	n := 0
	for _, from := range m.from {
		for _, to := range m.states {
			for _, actual := range m.states {
				n++
				switch {
				case m.legal(from, to) && actual == from:
					m.try(t, s, attempt[S]{n, actual, from, to, "", to})
				case m.legal(from, to):
					m.try(t, s, attempt[S]{n, actual, from, to, chela.Conflict, actual})
				case actual == from:
					m.try(t, s, attempt[S]{n, actual, from, to, chela.Internal, actual})
				}
			}
		}
	}
	if !slices.ContainsFunc(m.states, func(to S) bool { return m.legal(m.from[0], to) }) {
		t.Errorf("nothing is legal from %q: the table of moves is not looked at", m.from[0])
	}
}

// An attempt is one move of a row and what it should come to.
type attempt[S ~string] struct {
	row              int
	actual, from, to S
	kind             chela.Kind // of the error; empty for none
	after            S
}

func (m mover[S]) try(t *testing.T, s *store.Store, a attempt[S]) {
	t.Helper()
	write(t, s, func(w *store.Write) error { return m.add(w, a.row, a.actual) })
	err := s.Write(t.Context(), "storetest", func(w *store.Write) error { return m.move(w, a.row, a.from, a.to) })
	what := fmt.Sprintf("move from %s to %s of a row that is %s", a.from, a.to, a.actual)
	if kind := chela.KindOf(err); kind != a.kind {
		t.Errorf("%s: error of kind %q, want %q: %v", what, kind, a.kind, err)
	}
	after := read(t, s, func(r *store.Read) (S, error) { return m.state(r, a.row) })
	if after != a.after {
		t.Errorf("%s: it is %s now, want %s", what, after, a.after)
	}
}

package storetest

import (
	"testing"

	"chela"
	"chela/internal/store"
)

// checkProbe probes a database twice, and finds it as it was.
func checkProbe(t *testing.T, s *store.Store) {
	ctx := t.Context()
	counts := func() store.Counts {
		return read(t, s, func(r *store.Read) (store.Counts, error) { return r.Counts(ctx) })
	}
	before := counts()
	for range 2 {
		if err := s.Probe(ctx); err != nil {
			t.Fatal(err)
		}
	}
	same(t, before, counts())
}

// checkIntact checks a database with records for damage, and finds none.
func checkIntact(t *testing.T, s *store.Store) {
	addRoutine(t, s, full[chela.Routine]())
	damage, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same(t, nil, damage)
}

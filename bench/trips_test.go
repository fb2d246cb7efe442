package bench_test

import (
	"testing"
)

// TestRoundTrips counts how often a text turn waits for PostgreSQL: twice until its
// message is accepted, as the answer to what is read decides what is written, and once
// for its end. The daemon adds nothing: triggers of routines and documents of the agent
// that did not change, and the answer, come from memory.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	const turns = 40
	h := openHome(t, onServer(t), 1, kinds[0], nil)
	before := h.store.RoundTrips()
	if err := h.all(t.Context(), kinds[0], turns); err != nil {
		t.Fatal(err)
	}
	// The lanes also look at the leases of others from time to time.
	if each := float64(h.store.RoundTrips()-before) / turns; each < 3 || each > 3.5 {
		t.Errorf("%.1f round trips of a text turn, want 3", each)
	}
}

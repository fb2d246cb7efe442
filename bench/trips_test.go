package bench_test

import (
	"testing"
)

// TestRoundTrips counts how often a text turn waits for PostgreSQL: twice until its
// message is accepted, as the answer to what is read decides what is written, and once
// for its end. The gateway adds two reads of one query each, for the triggers of routines
// and the documents of the agent. The answer comes from memory.
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

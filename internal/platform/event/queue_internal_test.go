package event

import (
	"math/rand/v2"
	"testing"
)

// TestQueueKeepsItsOrder puts and takes at random: events come in their order, up to 4096
// wait, and an empty queue keeps little memory.
func TestQueueKeepsItsOrder(t *testing.T) {
	q := newQueue[int]()
	put, taken := 0, 0
	for round := range 2000 {
		for range rand.IntN(1 << (round % 14)) {
			if ok := q.put(put); ok != (put-taken < queueSize) {
				t.Fatalf("put %v with %d waiting", ok, put-taken)
			} else if ok {
				put++
			}
		}
		for range rand.IntN(1 << (round % 14)) {
			v, ok, closed := q.take()
			if ok != (taken < put) || ok && v != taken || closed {
				t.Fatalf("took %d, %v, closed %v; want %d of %d", v, ok, closed, taken, put)
			} else if ok {
				taken++
			}
		}
		if q.isIdle() != (put == taken) {
			t.Fatalf("idle is %v with %d waiting", q.isIdle(), put-taken)
		}
	}
	for taken < put {
		if _, ok, _ := q.take(); !ok {
			t.Fatalf("%d events are lost", put-taken)
		}
		taken++
	}
	if n := cap(q.arrived); n > queueKept {
		t.Errorf("an empty queue has room for %d events", n)
	}
	if n := testing.AllocsPerRun(100, func() { q.put(1); q.take() }); n > 0 && cap(q.arrived) > 0 {
		t.Errorf("%v allocations for an event", n)
	}
}

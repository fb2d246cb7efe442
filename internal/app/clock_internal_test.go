package app

import (
	"testing"
	"time"

	"chela"
	"chela/internal/platform/pgtest"
	"chela/internal/store"
)

// TestNodeWithAFastClock: a node whose clock is ten minutes ahead does not take
// over a turn that runs on another node, because leases are compared with the
// clock of the database.
func TestNodeWithAFastClock(t *testing.T) {
	t.Parallel()
	const hangs = `turns: [{steps: [{text: "On and on.", chunk_bytes: 2, fault: {hang: true, after: 2}}]}]`
	url := pgtest.URL(t)
	right := stayingAt(t, hangs, time.Now, "DATABASE_URL="+url)
	fast := stayingAt(t, hangs, func() time.Time { return time.Now().Add(10 * time.Minute) }, "DATABASE_URL="+url)
	const key = "agent:main:main"
	answers := right.bus.Listen(key, func(e chela.Event) bool { return e.Kind == chela.EventTextDelta })
	defer answers.Close()
	if _, err := right.ingress.Accept(t.Context(), chela.Inbound{Session: key, Agent: "main", Origin: chela.Origin{Channel: "test", Owner: true}, MessageID: "1", Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if _, ok := answers.Next(t.Context()); !ok {
		t.Fatal("the turn says nothing")
	}
	fast.lanes.TakeUp(t.Context())
	l, err := store.Find(t.Context(), right.store, func(r *store.Read) (store.Lane, error) { return r.Lane(t.Context(), key) })
	if err != nil {
		t.Fatal(err)
	}
	if l.Owner != right.node {
		t.Errorf("the lane belongs to %s, want the node that runs the turn, %s", l.Owner, right.node)
	}
	if ahead := fast.now().Sub(right.now()); ahead.Abs() > time.Second {
		t.Errorf("the clock of the nodes differs by %v", ahead)
	}
}

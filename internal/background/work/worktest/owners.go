package worktest

import (
	"context"
	"errors"
	"time"

	"chela"
	"chela/internal/background/work"
	"chela/internal/store"
)

// owners is what is promised of several processes.
var owners = []part{
	{"two processes share the work", checkShared},
	{"who lives keeps its work", checkRenewed},
	{"a claim is renewed in time and ends soon", checkLease},
	{"work of a process that is gone is taken when its time is over", checkTaken},
	{"work of a process that is dead is taken at once", checkDead},
	{"work whose owners die again and again fails", checkPoison},
	{"who lost its work cannot end it", checkLost},
	{"what a process does not know that it has is given back", checkUnknown},
}

func checkShared(h *house) {
	const pieces = 500
	handle := func(context.Context, chela.Work) (work.Outcome, error) {
		<-time.After(time.Second)
		return work.Outcome{}, nil
	}
	a := h.process("a", h.kind("a", handle))
	h.process("b", h.kind("b", handle))
	h.write(func(w *store.Write) error {
		for n := range pieces {
			if _, err := a.Add(h.Context(), w, chela.Work{Kind: kindName, Key: key(n)}); err != nil {
				return err
			}
		}
		return nil
	})
	h.pass(time.Minute)
	by := map[chela.NodeID]int{}
	for _, c := range h.calls() {
		by[c.Node]++
	}
	if by["a"]+by["b"] != pieces || by["a"] == 0 || by["b"] == 0 || len(h.most) != pieces {
		h.Errorf("calls by node: %v, of %d keys", by, len(h.most))
	}
	for key, n := range h.most {
		if n != 1 {
			h.Errorf("%d handlers of %s at once", n, key)
		}
	}
}

func checkRenewed(h *house) {
	handle := func(context.Context, chela.Work) (work.Outcome, error) {
		<-time.After(5 * time.Minute)
		return work.Outcome{}, nil
	}
	a := h.process("a", h.kind("a", handle))
	h.add(a, "x", 0)
	h.pass(time.Second)
	h.process("b", h.kind("b", handle))
	h.pass(6 * time.Minute)
	h.want(call{"a", "x", 0, 1})
	h.wantGone("x")
}

// checkLease looks all along at how long a claim would last without its owner. With
// the second until others look, its work is taken within eight.
func checkLease(h *house) {
	a := h.process("a", h.kind("a", until))
	h.add(a, "x", 0)
	for at := time.Second; at <= time.Minute; at += 500 * time.Millisecond {
		h.pass(at)
		k, is := h.live("x")
		if left := time.Until(k.Until); !is || left < 3*time.Second || left > 7*time.Second {
			h.Errorf("after %v: %v left of the claim of %q", at, left, k.Owner)
		}
	}
}

func checkTaken(h *house) {
	a := h.process("a", h.kind("a", done))
	h.add(a, "x", 10*time.Second)
	a.stop()
	h.pass(10 * time.Second)
	if got := h.steal("elsewhere", 30*time.Second); len(got) != 1 {
		h.Fatalf("claimed %v", got)
	}
	h.process("b", h.kind("b", done))
	h.pass(time.Minute)
	h.want(call{"b", "x", 40 * time.Second, 2})
}

func checkDead(h *house) {
	h.dead["dead"] = true
	a := h.brief("a")
	h.add(a, "x", 0)
	a.stop()
	h.steal("dead", time.Hour)
	h.pass(10 * time.Second)
	h.process("b", h.kind("b", done))
	h.pass(11 * time.Second)
	h.want(call{"b", "x", 10 * time.Second, 2})
}

func checkPoison(h *house) {
	h.dead["dead"] = true
	kind := h.kind("b", done)
	kind.Attempts = 3
	a := h.brief("a")
	h.add(a, "x", 0)
	a.stop()
	for range 3 {
		if got := h.steal("dead", time.Hour); len(got) != 1 {
			h.Fatalf("claimed %v", got)
		}
		other := work.Kind{Name: "other", Handle: done}
		b := h.process("b", other) // frees it, and cannot perform it
		b.Settle(h.Context())
		b.stop()
		h.pass(h.since() + time.Minute) // until it is due
	}
	h.process("b", kind)
	h.pass(h.since() + time.Minute)
	h.want()
	failed := h.failed()
	if len(failed) != 1 || failed[0].Error != "the process that performed it died each time" {
		h.Errorf("failed work: %+v", failed)
	}
}

func checkLost(h *house) {
	var cause error
	a := h.process("a", h.kind("a", func(ctx context.Context, k chela.Work) (work.Outcome, error) {
		<-ctx.Done()
		cause = context.Cause(ctx)
		<-time.After(time.Minute) // goes on nevertheless
		return work.Outcome{}, nil
	}))
	h.add(a, "x", 0)
	h.pass(time.Second)
	// Another process holds that the first one is gone, and takes the work.
	h.write(func(w *store.Write) error {
		owned, err := w.OwnedWork(h.Context(), "a")
		if err != nil {
			return err
		}
		return errors.Join(err, w.FreeWork(h.Context(), owned[0]))
	})
	stolen := h.steal("b", time.Hour)
	if len(stolen) != 1 {
		h.Fatalf("claimed %v", stolen)
	}
	h.pass(4 * time.Second)
	if cause == nil || errors.Is(cause, context.Canceled) {
		h.Errorf("handler ended by %v", cause)
	}
	h.pass(5 * time.Minute)
	if k, is := h.live("x"); !is || k.Owner != "b" || k.State != chela.WorkRunning || k.Token != stolen[0].Token {
		h.Errorf("work of b: %+v", k)
	}
	h.want(call{"a", "x", 0, 1})
}

// checkUnknown has a process whose commit of a claim it was not told of.
func checkUnknown(h *house) {
	b := h.brief("b")
	h.add(b, "x", 0)
	b.stop()
	h.steal("a", 30*time.Second)
	h.process("a", h.kind("a", done))
	h.pass(20 * time.Second)
	h.want(call{"a", "x", 2 * time.Second, 1})
}

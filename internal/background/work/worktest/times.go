package worktest

import (
	"context"
	"sync/atomic"
	"time"

	"chela"
	"chela/internal/background/work"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// times is what is promised of when work is performed.
var times = []part{
	{"nothing is performed before its time", checkTimes},
	{"work is unique while unfinished", checkUnique},
	{"work that runs is set anew", checkSetAnew},
	{"work comes back", checkAgain},
	{"a time is moved", checkMoved},
	{"work is dropped", checkDropped},
	{"a kind has room for so many", checkRoom},
	{"what others add is found", checkFound},
	{"of ten thousand pieces those are performed that are due", checkMany},
	{"what is not committed does not happen", checkRolledBack},
	{"a handler ends its work itself", checkWritten},
}

func checkTimes(h *house) {
	p := h.process("a", h.kind("a", done))
	var want []call
	for _, due := range []time.Duration{0, time.Second, 90 * time.Second, 90*time.Second + time.Millisecond, 20 * time.Minute} {
		h.add(p, due.String(), due)
		want = append(want, call{"a", due.String(), due, 1})
	}
	h.pass(19 * time.Minute)
	h.want(want[:4]...)
	h.pass(20 * time.Minute)
	h.want(want...)
	h.wantGone("0s", "1s")
}

func checkUnique(h *house) {
	let := make(chan struct{})
	p := h.process("a", h.kind("a", func(ctx context.Context, k chela.Work) (work.Outcome, error) {
		<-let
		return work.Outcome{}, nil
	}))
	for i, at := range []time.Duration{0, time.Second, 10 * time.Second} {
		h.pass(at)
		if added := h.add(p, "x", 5*time.Second); added != (i == 0) {
			h.Errorf("added at %v: %t", at, added)
		}
	}
	close(let)
	h.pass(11 * time.Second)
	if !h.add(p, "x", 0) {
		h.Error("not added after it was done")
	}
	h.pass(12 * time.Second)
	h.want(call{"a", "x", 5 * time.Second, 1}, call{"a", "x", 11 * time.Second, 1})
}

func checkSetAnew(h *house) {
	let := make(chan struct{})
	p := h.process("a", h.kind("a", func(context.Context, chela.Work) (work.Outcome, error) {
		<-let
		return work.Outcome{}, nil
	}))
	h.add(p, "x", 0)
	h.pass(time.Second)
	h.set(p, "x", 2*time.Second) // while it runs
	h.pass(3 * time.Second)
	h.want(call{"a", "x", 0, 1})
	close(let)
	h.pass(4 * time.Second)
	h.want(call{"a", "x", 0, 1}, call{"a", "x", 3 * time.Second, 1})
	h.wantGone("x")
}

func checkAgain(h *house) {
	p := h.process("a", h.kind("a", func(_ context.Context, k chela.Work) (work.Outcome, error) {
		return work.Outcome{Again: k.DueAt.Add(time.Minute)}, nil
	}))
	h.add(p, "x", time.Minute)
	h.pass(20*time.Minute + time.Second)
	var want []call
	for n := range 20 {
		want = append(want, call{"a", "x", time.Duration(n+1) * time.Minute, 1})
	}
	h.want(want...)
}

func checkMoved(h *house) {
	p := h.process("a", h.kind("a", done))
	h.add(p, "earlier", 2*time.Minute)
	h.add(p, "later", time.Minute)
	h.pass(time.Second)
	h.set(p, "earlier", time.Minute)
	h.set(p, "later", 2*time.Minute)
	h.set(p, "new", 3*time.Minute)
	h.pass(4 * time.Minute)
	h.want(call{"a", "earlier", time.Minute, 1}, call{"a", "later", 2 * time.Minute, 1}, call{"a", "new", 3 * time.Minute, 1})
}

func checkDropped(h *house) {
	p := h.process("a", h.kind("a", func(ctx context.Context, k chela.Work) (work.Outcome, error) {
		<-time.After(10 * time.Second)
		return work.Outcome{}, errTrouble
	}))
	h.add(p, "waits", 30*time.Second)
	h.add(p, "runs", 0)
	h.pass(time.Second)
	for _, key := range []string{"waits", "runs"} {
		h.write(func(w *store.Write) error { return w.DropWork(h.Context(), kindName, key) })
	}
	h.pass(time.Minute)
	h.want(call{"a", "runs", 0, 1})
	h.wantGone("waits", "runs")
}

func checkRoom(h *house) {
	var inside, most atomic.Int64
	kind := work.Kind{Name: kindName, Parallel: 3, Handle: func(context.Context, chela.Work) (work.Outcome, error) {
		most.Store(max(most.Load(), inside.Add(1)))
		<-time.After(time.Second)
		inside.Add(-1)
		return work.Outcome{}, nil
	}}
	p := h.process("a", kind)
	for n := range 10 {
		h.add(p, key(n), 0)
	}
	p.Settle(h.Context())
	if took := h.since(); most.Load() != 3 || took != 4*time.Second {
		h.Errorf("%d at once in %v, want 3 in 4 s", most.Load(), took)
	}
}

func checkFound(h *house) {
	h.process("a", h.kind("a", done))
	stranger := &process{Engine: work.New(h.store, work.Config{Process: local.Process{Node: "b", IDs: h.ids, Now: time.Now}})}
	h.pass(500 * time.Millisecond)
	h.add(stranger, "x", 0)
	h.pass(2 * time.Second)
	h.want(call{"a", "x", time.Second, 1})
}

// checkMany has ten thousand pieces, ten of which are due each second.
func checkMany(h *house) {
	const pieces, each = 10_000, 10
	due := func(n int) time.Duration { return time.Duration(n/each) * time.Second }
	p := h.process("a", h.kind("a", done))
	h.write(func(w *store.Write) error {
		for n := range pieces {
			if _, err := p.Add(h.Context(), w, chela.Work{Kind: kindName, Key: key(n), DueAt: h.begun.Add(due(n))}); err != nil {
				return err
			}
		}
		return nil
	})
	p.Nudge()
	const last = 99
	h.pass(last * time.Second)
	var want []call
	for n := range (last + 1) * each {
		want = append(want, call{"a", key(n), due(n), 1})
	}
	h.want(want...)
}

func checkRolledBack(h *house) {
	p := h.process("a", h.kind("a", done))
	err := h.store.Write(h.Context(), "worktest", func(w *store.Write) error {
		if _, err := p.Add(h.Context(), w, chela.Work{Kind: kindName, Key: "x"}); err != nil {
			return err
		}
		return errTrouble
	})
	if err == nil {
		h.Error("committed")
	}
	p.Nudge()
	h.pass(time.Minute)
	h.want()
}

func checkWritten(h *house) {
	p := h.process("a", h.kind("a", func(ctx context.Context, k chela.Work) (work.Outcome, error) {
		k.State, k.DueAt, k.Attempts = chela.WorkDue, k.DueAt.Add(time.Minute), 0
		if k.Key == "done" {
			k.State = chela.WorkDone
		}
		err := h.store.Write(ctx, "worktest", func(w *store.Write) error { return w.MoveWork(ctx, k) })
		return work.Outcome{Written: true}, err
	}))
	h.add(p, "again", 0)
	h.add(p, "done", 0)
	h.pass(90 * time.Second)
	h.want(call{"a", "again", 0, 1}, call{"a", "done", 0, 1}, call{"a", "again", time.Minute, 1})
	h.wantGone("done")
}

package worktest

import (
	"context"
	"time"

	"chela"
	"chela/internal/background/work"
	"chela/internal/store"
)

// ends is what is promised of processes that end.
var ends = []part{
	{"work is given back by a process that ends", checkGivenBack},
	{"what was done is stored by a process that ends", checkStoredLast},
	{"a process that ends soon performs its own", checkBrief},
	{"a process that ends soon has kinds for all", checkBriefKinds},
	{"a process that stays performs everything", checkStay},
	{"what a process leaves is for others", checkLeave},
	{"who waits until all is done is let go", checkSettle},
}

func checkGivenBack(h *house) {
	a := h.process("a", h.kind("a", until))
	h.add(a, "x", time.Second)
	h.pass(10 * time.Second)
	a.stop()
	k, _ := h.live("x")
	if k.State != chela.WorkDue || k.Attempts != 0 || k.Owner != "" || !k.DueAt.Equal(h.begun.Add(time.Second)) {
		h.Errorf("given back: %+v", k)
	}
	h.process("b", h.kind("b", done))
	h.pass(11 * time.Second)
	h.want(call{"a", "x", time.Second, 1}, call{"b", "x", 10 * time.Second, 1})
}

func checkStoredLast(h *house) {
	a := h.process("a", h.kind("a", func(ctx context.Context, _ chela.Work) (work.Outcome, error) {
		<-ctx.Done()
		<-time.After(5 * time.Minute) // its claim is kept meanwhile
		return work.Outcome{}, nil
	}))
	h.add(a, "x", 0)
	h.pass(time.Second)
	b := h.process("b", h.kind("b", done))
	a.stop()
	b.Settle(h.Context())
	h.want(call{"a", "x", 0, 1})
	h.wantGone("x")
}

func checkBrief(h *house) {
	stranger := h.brief("b")
	h.add(stranger, "strange", 0)
	h.add(stranger, "set by both", 2*time.Minute)
	a := h.brief("a", h.kind("a", done))
	h.add(a, "own", 0)
	h.set(a, "set by both", 0)
	h.add(a, "later", time.Minute)
	if h.add(a, "strange", 0) {
		h.Error("added what was there")
	}
	a.Settle(h.Context())
	h.want(call{"a", "own", 0, 1}, call{"a", "set by both", 0, 1})
	h.pass(2 * time.Minute)
	h.want(call{"a", "own", 0, 1}, call{"a", "set by both", 0, 1}, call{"a", "later", time.Minute, 1})

	// What is added in a transaction that takes its time is not forgotten.
	h.write(func(w *store.Write) error {
		_, err := a.Add(h.Context(), w, chela.Work{Kind: kindName, Key: "slow"})
		a.Nudge()
		return err
	})
	a.Settle(h.Context())
	h.wantGone("slow")
}

func checkBriefKinds(h *house) {
	stranger := h.brief("b")
	h.add(stranger, "strange", 0)
	kind := h.kind("a", done)
	kind.Brief = true
	a := h.brief("a", kind)
	a.Settle(h.Context())
	h.want(call{"a", "strange", 0, 1})
}

func checkStay(h *house) {
	stranger := h.brief("b")
	h.add(stranger, "strange", 0)
	a := h.brief("a", h.kind("a", done))
	h.pass(time.Minute)
	h.want()
	a.Stay()
	h.pass(time.Minute + time.Second)
	h.want(call{"a", "strange", time.Minute, 1})
}

func checkLeave(h *house) {
	a := h.brief("a", h.kind("a", done))
	h.add(a, "own", 0)
	a.Settle(h.Context())
	a.Leave()
	h.add(a, "left", 0)
	h.set(a, "left too", 0)
	a.Settle(h.Context())
	h.want(call{"a", "own", 0, 1})
	h.process("b", h.kind("b", done))
	h.pass(time.Second)
	h.want(call{"b", "left", 0, 1}, call{"b", "left too", 0, 1}, call{"a", "own", 0, 1})
}

func checkSettle(h *house) {
	a := h.process("a", h.kind("a", func(ctx context.Context, k chela.Work) (work.Outcome, error) {
		<-time.After(time.Minute)
		return work.Outcome{}, errTrouble
	}))
	a.Settle(h.Context()) // nothing is there
	h.add(a, "x", 0)
	h.add(a, "later", time.Hour)
	a.Settle(h.Context())
	if took := h.since(); took != time.Minute {
		h.Errorf("settled after %v, want the first attempt", took)
	}
	ctx, cancel := context.WithTimeout(h.Context(), time.Second)
	defer cancel()
	h.pass(time.Minute + time.Second) // the second attempt
	a.Settle(ctx)
	if ctx.Err() == nil {
		h.Error("settled while a handler runs")
	}
	a.stop()
	a.Settle(h.Context()) // nobody performs anything
}

package worktest

import (
	"context"
	"fmt"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/background/work"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// failures is what is promised of handlers that do not do what they should.
var failures = []part{
	{"what fails is tried again, later each time", checkRetries},
	{"attempts are used up", checkUsedUp},
	{"trouble of the database uses up no attempts", checkDatabaseTrouble},
	{"some errors are not tried again", checkHopeless},
	{"some work is tried forever", checkForever},
	{"a panic is an error", checkPanics},
	{"an attempt has its time", checkTimeout},
	{"failed work is kept for a day", checkKept},
	{"a failure that cannot be told is one", checkUntold},
	{"kinds are right or refused", checkKinds},
}

func checkRetries(h *house) {
	p := h.process("a", h.kind("a", failing(errTrouble, errTrouble, errTrouble)))
	h.add(p, "x", time.Minute)
	h.pass(time.Minute + 2*time.Second)
	k, _ := h.live("x")
	if k.Attempts != 2 || k.Error != "internal error" || !k.DueAt.Equal(h.begun.Add(time.Minute+3*time.Second)) {
		h.Errorf("between two attempts: %+v", k)
	}
	h.pass(5 * time.Minute)
	h.want(
		call{"a", "x", time.Minute, 1}, call{"a", "x", time.Minute + time.Second, 2},
		call{"a", "x", time.Minute + 3*time.Second, 3}, call{"a", "x", time.Minute + 7*time.Second, 4},
	)
	h.wantGone("x")
}

// wantFailed compares what failed, but for its ids and tokens.
func (h *house) wantFailed(want ...chela.Work) {
	h.Helper()
	ignored := cmpopts.IgnoreFields(chela.Work{}, "ID", "Token", "CreatedAt")
	if diff := gocmp.Diff(want, h.failed(), ignored); diff != "" {
		h.Errorf("failed work (-want +got)\n%s", diff)
	}
}

func (h *house) failure(key string, attempts int, err string, at time.Duration) chela.Work {
	return chela.Work{Kind: kindName, Key: key, State: chela.WorkFailed, Attempts: attempts, Error: err, DueAt: h.begun.Add(at).UTC()}
}

// tell makes a kind add work of its own kind, named after what failed.
func tell(p **process, kind work.Kind) work.Kind {
	kind.Failed = func(ctx context.Context, w *store.Write, k chela.Work) error {
		_, err := (*p).Add(ctx, w, chela.Work{Kind: kindName, Key: "told of " + k.Key + ": " + k.Error, DueAt: k.DueAt.Add(time.Hour)})
		return err
	}
	return kind
}

func checkUsedUp(h *house) {
	var p *process
	kind := tell(&p, h.kind("a", failing(errTrouble, errTrouble, chela.E(chela.Unavailable, "nobody answers"))))
	kind.Attempts = 3
	p = h.process("a", kind)
	h.add(p, "x", 0)
	h.pass(5 * time.Minute)
	h.want(call{"a", "x", 0, 1}, call{"a", "x", time.Second, 2}, call{"a", "x", 3 * time.Second, 3})
	h.wantFailed(h.failure("x", 3, "nobody answers", 3*time.Second))
	if _, told := h.live("told of x: nobody answers"); !told {
		h.Error("nobody was told")
	}
	if !h.add(p, "x", 6*time.Minute) {
		h.Error("failed work stands in the way of new work")
	}
}

func checkDatabaseTrouble(h *house) {
	runs := 0
	kind := h.kind("a", func(context.Context, chela.Work) (work.Outcome, error) {
		if runs++; runs <= 5 {
			return work.Outcome{}, chela.E(chela.Unavailable, "the disk is full").Because(store.ErrTrouble)
		}
		return work.Outcome{}, nil
	})
	kind.Attempts = 3
	p := h.process("a", kind)
	h.add(p, "x", 0)
	h.pass(5 * time.Minute)
	h.want(
		call{"a", "x", 0, 1}, call{"a", "x", time.Second, 2}, call{"a", "x", 3 * time.Second, 3},
		call{"a", "x", 7 * time.Second, 3}, call{"a", "x", 11 * time.Second, 3}, call{"a", "x", 15 * time.Second, 3},
	)
	h.wantFailed()
	h.wantGone("x")
}

func checkHopeless(h *house) {
	var p *process
	p = h.process("a", tell(&p, h.kind("a", func(_ context.Context, k chela.Work) (work.Outcome, error) {
		return work.Outcome{}, fmt.Errorf("probe: %w", chela.E(chela.Kind(k.Key), "no"))
	})))
	for _, kind := range []chela.Kind{chela.Invalid, chela.NotFound, chela.Unsupported, chela.Denied} {
		h.add(p, string(kind), 0)
	}
	h.pass(5 * time.Minute)
	h.want(call{"a", "denied", 0, 1}, call{"a", "invalid", 0, 1}, call{"a", "not_found", 0, 1}, call{"a", "unsupported", 0, 1})
	if _, told := h.live("told of denied: no"); !told || len(h.failed()) != 4 {
		h.Errorf("told: %t, failed: %v", told, h.failed())
	}
}

func checkForever(h *house) {
	kind := h.kind("a", func(context.Context, chela.Work) (work.Outcome, error) { return work.Outcome{}, errTrouble })
	kind.Attempts = work.Forever
	p := h.process("a", kind)
	h.add(p, "x", 0)
	h.pass(40 * time.Minute)
	calls := h.calls()
	if last := calls[len(calls)-1]; len(calls) != 13 || 40*time.Minute-last.At > 10*time.Minute {
		h.Errorf("%d calls, the last one %v", len(calls), last)
	}
}

func checkPanics(h *house) {
	var nowhere map[string]int
	kind := h.kind("a", func(_ context.Context, k chela.Work) (work.Outcome, error) {
		nowhere[k.Key]++ // a defect
		return work.Outcome{}, nil
	})
	kind.Attempts = 2
	p := h.process("a", kind)
	h.add(p, "x", 0)
	h.pass(time.Minute)
	h.want(call{"a", "x", 0, 1}, call{"a", "x", time.Second, 2})
	h.wantFailed(h.failure("x", 2, "a handler panicked", time.Second))
}

func checkTimeout(h *house) {
	kind := h.kind("a", until)
	kind.Attempts, kind.Timeout = 2, time.Minute
	p := h.process("a", kind)
	h.add(p, "x", 0)
	h.pass(5 * time.Minute)
	h.want(call{"a", "x", 0, 1}, call{"a", "x", time.Minute + time.Second, 2})
	h.wantFailed(h.failure("x", 2, "took longer than 1m0s", 2*time.Minute+time.Second))
}

func checkKept(h *house) {
	for failed, n := range []time.Duration{25 * time.Hour, 23*time.Hour + 30*time.Minute, time.Hour} {
		k := h.failure(key(failed), 1, "", -n)
		k.ID = h.ids.Work()
		h.write(func(w *store.Write) error {
			_, err := w.AddWork(h.Context(), k)
			return err
		})
	}
	h.process("a", h.kind("a", done))
	h.pass(time.Second)
	before := len(h.failed())
	h.pass(61 * time.Minute)
	if after := len(h.failed()); before != 2 || after != 1 {
		h.Errorf("%d pieces of failed work, then %d, want 2 and 1", before, after)
	}
}

func checkUntold(h *house) {
	kind := h.kind("a", failing(errTrouble))
	kind.Attempts = 1
	kind.Failed = func(context.Context, *store.Write, chela.Work) error { return errTrouble }
	p := h.process("a", kind)
	h.add(p, "x", 0)
	h.pass(5 * time.Minute)
	h.want(call{"a", "x", 0, 1})
	h.wantFailed(h.failure("x", 1, "internal error", 0))
}

func checkKinds(h *house) {
	kind := h.kind("a", done)
	for name, kinds := range map[string][]work.Kind{
		"twice": {kind, kind}, "no name": {{Handle: kind.Handle}}, "no handler": {{Name: "x"}},
	} {
		e := work.New(h.store, work.Config{Process: local.Process{Node: "a", IDs: h.ids, Now: time.Now}})
		err := e.Run(h.Context(), kinds...)
		if chela.KindOf(err) != chela.Internal || !strings.Contains(err.Error(), "kind of work") {
			h.Errorf("%s: %v", name, err)
		}
		e.Settle(h.Context()) // nobody performs anything
	}
}

package cost_test

import (
	"context"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chela"
	"chela/internal/engine/cost"
)

// TestRunTendsAndForgets: the ledger is tended every ten seconds from the start on,
// and old budgets are forgotten with every 360th time. The store is closed, so that
// the log counts both.
func TestRunTendsAndForgets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{})
	l, log := w.logging()
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour+5*time.Second)
		defer cancel()
		if err := l.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	same(t, "looks", 721, strings.Count(log.String(), "reservations not checked"))
	same(t, "times that budgets are forgotten", 3, strings.Count(log.String(), "old budgets not removed"))
}

// TestForgetIsQuiet: a run that is ended at once tends, forgets and logs nothing.
func TestForgetIsQuiet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD})
	w.leave(t, "node_b", payer("turn_0"))
	w.dead["node_b"] = true
	l, log := w.logging()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	w.onDead = cancel                  // it looks, and ends before it forgets
	go func() { done <- l.Run(ctx) }() // received below
	if err := <-done; err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), "not") {
		t.Errorf("log of a run that was ended: %s", log)
	}
}

// TestCloseGivesUpItsOwn: a ledger that is closed loses what its process has
// reserved, and nothing of others.
func TestCloseGivesUpItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD})
	w.leave(t, "node_a", payer("turn_0"))
	w.leave(t, "node_b", payer("turn_1"))
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "rows of its own", []string{"lost p/cheap $0.01"}, w.rows(t, "turn_0"))
	same(t, "rows of another process", []string{"reserved p/cheap $0.01"}, w.rows(t, "turn_1"))
}

// tending is a model during whose answer something happens.
type tending func()

// Stream implements chela.Provider.
func (f tending) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	f()
	return says(1000, 10).Stream(ctx, req)
}

// TestCallsWithoutATurnAreTended: a call without a turn is not lost while it is
// under way in this process. One of another process is lost an hour after it began.
func TestCallsWithoutATurnAreTended(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD})
	alone := chela.Request{Payer: chela.Payer{Purpose: "test"}, MaxTokens: 890}
	own := tending(func() {
		w.Tend(t.Context())
		same(t, "open while it is under way", 1, len(w.open(t)))
	})
	if _, err := ask(t.Context(), w.Meter(own, "p/cheap"), alone); err != nil {
		t.Fatal(err)
	}
	same(t, "open after it", 0, len(w.open(t)))
	dear := alone
	dear.Tokens = 2_000_000
	for req, want := range map[*chela.Request]chela.Kind{&alone: "", &dear: chela.Exhausted} {
		if _, err := ask(t.Context(), w.Meter(says(1000, 10), "p/cheap"), *req); chela.KindOf(err) != want {
			t.Errorf("ended with %v, want %q", err, want)
		}
		same(t, "calls under way", 0, w.Open())
	}

	next, stop := iter.Pull2(w.again("node_b", w.cfg.Limits).Meter(says(1000, 10), "p/cheap").Stream(t.Context(), &alone))
	defer stop()
	if _, err, _ := next(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		open  int
	}{{time.Hour, 1}, {time.Hour + time.Nanosecond, 0}} {
		w.at(noon.Add(c.after))
		w.Tend(t.Context())
		same(t, "open after "+c.after.String(), c.open, len(w.open(t)))
	}
}

// TestRelease: a reservation that is given back costs nothing. One that ended before
// stays as it is, without a word.
func TestRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD})
	w.leave(t, "node_a", payer("turn_0"))
	l, log := w.logging()
	u := w.open(t)[0]
	for range 2 {
		l.Release(t.Context(), u)
	}
	same(t, "rows", []string{"released p/cheap $0.00"}, w.rows(t, "turn_0"))
	same(t, "log", "", log.String())
}

// TestTheDeadAreLookedForOnce: a call that waits for others looks once whether one
// of them has died.
func TestTheDeadAreLookedForOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: 15_000})
	w.leave(t, "node_b", payer("turn_0"))
	looks, waits := 0, 0
	w.onDead = func() { looks++ }
	w.waited = func() { waits++ }
	if _, err := ask(t.Context(), w.Meter(says(1000, 10), "p/cheap"), chela.Request{Payer: payer("turn_1"), MaxTokens: 890}); chela.KindOf(err) != chela.Exhausted {
		t.Errorf("ended with %v", err)
	}
	if looks != 1 || waits != 300 {
		t.Errorf("looked %d times, waited %d times; want 1, 300", looks, waits)
	}
}

// TestLostCallsAreLogged: each reservation that is lost is logged once.
func TestLostCallsAreLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD})
	w.leave(t, "node_b", payer("turn_0"))
	w.leave(t, "node_b", payer("turn_1"))
	w.dead["node_b"] = true
	l, log := w.logging()
	for range 2 {
		l.Tend(t.Context())
	}
	same(t, "calls that are lost", 2, strings.Count(log.String(), "model call lost"))
}

// TestPromptOfARequest: a request says how long its prompt is, or it is counted.
func TestPromptOfARequest(t *testing.T) {
	t.Parallel()
	for tokens, most := range map[int]chela.MicroUSD{0: 10_000, 1: 8910, 2: 8910, 500: 9450} {
		w := newWorld(t, cost.Limits{Day: chela.USD})
		if _, err := ask(t.Context(), w.Meter(says(1000, 10), "p/cheap"), chela.Request{Payer: payer("turn_0"), Tokens: tokens, MaxTokens: 890}); err != nil {
			t.Fatal(err)
		}
		if got := w.open(t)[0].Cost; got > most || got < most-20 {
			t.Errorf("for a prompt of %d tokens %v are reserved, want at most %v", tokens, got, most)
		}
	}
}

// A hooked log handler does something with each record.
type hooked struct {
	slog.Handler
	on func(message string)
}

// Handle implements slog.Handler.
func (h hooked) Handle(_ context.Context, r slog.Record) error {
	h.on(r.Message)
	return nil
}

// Enabled implements slog.Handler.
func (h hooked) Enabled(context.Context, slog.Level) bool { return true }

// TestConflictsAreBounded: what is reserved for the same turn is given up and logged
// three times. Then the call fails, and nothing is reserved for it.
func TestConflictsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD})
	w.take(t, "node_a", "turn_0")
	w.leave(t, "node_b", payer("turn_0"))
	lost := 0
	cfg := w.cfg
	cfg.Log = slog.New(hooked{slog.DiscardHandler, func(message string) {
		if message == "model call lost" {
			lost++
			w.leave(t, "node_b", payer("turn_0")) // once more
		}
	}})
	m := says(1000, 10)
	_, err := ask(t.Context(), cost.New(w.store, cfg).Meter(m, "p/cheap"), chela.Request{Payer: payer("turn_0"), MaxTokens: 890})
	if err == nil || lost != 3 || len(m.asked) > 0 {
		t.Errorf("given up %d times, asked %d times, ended with %v", lost, len(m.asked), err)
	}
	same(t, "rows", []string{"lost p/cheap $0.01", "lost p/cheap $0.01", "lost p/cheap $0.01", "reserved p/cheap $0.01"}, w.rows(t, "turn_0"))
}

// TestLengthOfAnswers: a limit of calls leaves the length of an answer to the
// request, a limit of money may shorten it.
func TestLengthOfAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits cost.Limits
		asked  int
		want   int
	}{
		"no limit":          {cost.Limits{}, 890, 890},
		"calls":             {cost.Limits{Actions: 5}, 890, 890},
		"calls, not said":   {cost.Limits{Actions: 5}, 0, 0},
		"enough money":      {cost.Limits{Day: chela.USD}, 890, 890},
		"too little money":  {cost.Limits{Day: 16_100}, 0, 1500},
		"money and no word": {cost.Limits{Day: chela.USD}, 0, 10_000},
	} {
		w := newWorld(t, c.limits)
		m := says(1000, 10)
		if _, err := ask(t.Context(), w.Meter(m, "p/cheap"), chela.Request{Payer: payer("turn_0"), MaxTokens: c.asked}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := m.asked[0].MaxTokens; got != c.want {
			t.Errorf("%s: an answer of %d tokens was asked for, want %d", name, got, c.want)
		}
	}
}

package cost_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"chela"
	"chela/internal/engine/cost"
)

// logging returns a ledger that logs to a buffer.
func (w *world) logging() (*cost.Ledger, *bytes.Buffer) {
	var log bytes.Buffer
	cfg := w.cfg
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	return cost.New(w.store, cfg), &log
}

// TestShorterAnswersAreLogged: only those, as their readers wonder where the rest is.
func TestShorterAnswersAreLogged(t *testing.T) {
	t.Parallel()
	for day, want := range map[chela.MicroUSD]int{1_200_000: 0, 16_100: 1} {
		w := newWorld(t, cost.Limits{Day: day})
		l, log := w.logging()
		if _, err := ask(t.Context(), l.Meter(says(1000, 10), "p/cheap"), chela.Request{Payer: payer("turn_0"), Tokens: 1000}); err != nil {
			t.Fatal(err)
		}
		same(t, "messages", want, strings.Count(log.String(), "answer shortened"))
	}
}

// TestTroubleOfTheStoreIsLogged: what stays reserved is named, and a look that
// fails is logged unless its context is done.
func TestTroubleOfTheStoreIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD})
	l, log := w.logging()
	p, req := l.Meter(says(1000, 10), "p/cheap"), chela.Request{Payer: payer("turn_0"), MaxTokens: 890}
	if _, err := ask(t.Context(), p, req); err != nil {
		t.Fatal(err)
	}
	l.Tend(t.Context())
	same(t, "log without trouble", "", log.String())
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t.Context(), p, req); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("without the store: %v", err)
	}
	same(t, "reservations", 1, strings.Count(log.String(), "reservation not released"))
	l.Tend(t.Context())
	done, cancel := context.WithCancel(t.Context())
	cancel()
	l.Tend(done)
	same(t, "looks", 1, strings.Count(log.String(), "reservations not checked"))
}

// TestCallThatCannotBeKeptIsLogged names the model of an answer whose row is lost.
func TestCallThatCannotBeKeptIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{})
	l, log := w.logging()
	if _, err := ask(t.Context(), l.Meter(says(1000, 10), "p/cheap"), chela.Request{}); err != nil {
		t.Fatal(err)
	}
	same(t, "log without trouble", "", log.String())
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t.Context(), l.Meter(says(1000, 10), "p/cheap"), chela.Request{}); err != nil {
		t.Fatal(err)
	}
	same(t, "messages", 1, strings.Count(log.String(), "model call not recorded"))
}

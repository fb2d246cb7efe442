package cost_test

import (
	"context"
	"testing"
	"time"

	"chela"
	"chela/internal/engine/cost"
)

// TestWaitsForOthers shows that a call for which only calls under way leave too
// little waits until they cost less, and is refused where they do not.
func TestWaitsForOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits cost.Limits
		costs  int64 // of the call under way, in tokens read; below zero: it does not end
		want   chela.Kind
		waited time.Duration
	}{
		"it costs less":              {cost.Limits{Day: 15_000}, 100, "", 600 * time.Millisecond},
		"it costs all":               {cost.Limits{Day: 15_000}, 14_000, chela.Exhausted, 600 * time.Millisecond},
		"it goes on and on":          {cost.Limits{Day: 15_000}, -1, chela.Exhausted, time.Minute},
		"it is one of so many":       {cost.Limits{Actions: 1}, 100, chela.Exhausted, 600 * time.Millisecond},
		"it was refused after all":   {cost.Limits{Actions: 1}, 0, "", 600 * time.Millisecond},
		"a limit of somebody else's": {cost.Limits{Turn: 15_000}, -1, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.limits)
			under := payer("turn_0")
			f, err := ask(t.Context(), w.Meter(says(c.costs, 0), "p/cheap"), chela.Request{Payer: under, MaxTokens: 890})
			if err != nil {
				t.Fatal(err)
			}
			waits := 0
			w.waited = func() {
				if waits++; waits != 3 || c.costs < 0 {
					return
				}
				if c.costs > 0 {
					w.settle(t, under, f)
					return
				}
				u := f.Charge.Settle(under, f.Usage, w.clock())
				u.State = chela.UsageReleased
				w.end(t, u)
			}
			_, err = ask(t.Context(), w.again("node_b", c.limits).Meter(says(1000, 10), "p/cheap"), chela.Request{Payer: payer("turn_1"), Tokens: 500, MaxTokens: 890})
			if chela.KindOf(err) != c.want || w.clock().Sub(noon) != c.waited {
				t.Errorf("after %s it ended with %v, want %q after %s", w.clock().Sub(noon), err, c.want, c.waited)
			}
		})
	}
}

// TestStoppedWhileItWaits shows that a turn which waits for money can be stopped.
func TestStoppedWhileItWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: 15_000})
	w.leave(t, "node_b", payer("turn_0"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w.waited = stop
	if _, err := ask(ctx, w.Meter(says(1000, 10), "p/cheap"), chela.Request{Payer: payer("turn_1"), MaxTokens: 890}); ctx.Err() == nil || err == nil {
		t.Errorf("ended with %v", err)
	}
	same(t, "rows", nil, w.rows(t, "turn_1"))
}

// TestActionsComeBack shows that what was given back is there for who was refused
// before.
func TestActionsComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Actions: 1})
	w.leave(t, "node_b", payer("turn_0"))
	p := w.Meter(says(1000, 10), "p/cheap")
	if _, err := ask(t.Context(), p, chela.Request{Payer: payer("turn_1")}); chela.KindOf(err) != chela.Exhausted {
		t.Fatalf("ended with %v", err)
	}
	u := w.open(t)[0]
	u.State, u.Cost = chela.UsageReleased, 0
	w.end(t, u)
	if _, err := ask(t.Context(), p, chela.Request{Payer: payer("turn_1")}); err != nil {
		t.Errorf("with one call left: %v", err)
	}
}

// TestWarningBegins shows from which amount on a warning is given, to the last
// millionth of a dollar.
func TestWarningBegins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		day   chela.MicroUSD
		spent int64
		want  int // warnings
	}{
		"just below 80 percent":        {25_000, 19_999, 0},
		"80 percent":                   {25_000, 20_000, 1},
		"80 percent, rounded down":     {25_001, 20_000, 0},
		"80 percent, rounded up":       {25_001, 20_001, 1},
		"a limit that is hardly spent": {25_000, 1_000, 0},
		"nearly all that can be spent": {25_000, 22_000, 1},
	} {
		w := newWorld(t, cost.Limits{Day: c.day})
		spender, req := payer("turn_0"), chela.Request{Payer: payer("turn_1"), MaxTokens: 100}
		f, err := ask(t.Context(), w.Meter(says(c.spent, 0), "p/cheap"), chela.Request{Payer: spender, MaxTokens: 100})
		if err != nil {
			t.Fatal(err)
		}
		w.settle(t, spender, f)
		if _, err := ask(t.Context(), w.Meter(says(1, 0), "p/cheap"), req); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(w.events) != c.want {
			t.Errorf("%s: events %+v, want %d", name, w.events, c.want)
		}
	}
}

// TestThoughtNeedsRoom shows that a model which reasons is not asked for an answer
// that its reasoning alone would use up.
func TestThoughtNeedsRoom(t *testing.T) {
	t.Parallel()
	for level, want := range map[chela.ThinkingLevel]chela.Kind{"": chela.Exhausted, chela.ThinkingOff: ""} {
		w := newWorld(t, cost.Limits{Day: 1100 + 10*2000})
		_, err := ask(t.Context(), w.Meter(says(1000, 10), "p/thinks"), chela.Request{Payer: payer("turn_0"), Thinking: level})
		if chela.KindOf(err) != want {
			t.Errorf("thinking %q: %v, want %q", level, err, want)
		}
	}
}

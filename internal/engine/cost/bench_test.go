package cost_test

import (
	"context"
	"testing"

	"chela"
	"chela/internal/engine/cost"
)

// BenchmarkCall makes calls of a model that answers at once, without the ledger
// and with it.
func BenchmarkCall(b *testing.B) {
	req := chela.Request{Payer: payer("turn_0"), Tokens: 1000}
	run := func(b *testing.B, p chela.Provider, req chela.Request, ended func(*chela.Finish)) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := ask(context.Background(), p, req)
			if f != nil {
				ended(f)
			} else if chela.KindOf(err) != chela.Exhausted {
				b.Fatal(err)
			}
		}
	}
	nothing := func(*chela.Finish) {}
	b.Run("without a ledger", func(b *testing.B) { run(b, answers{}, req, nothing) })
	b.Run("nothing limits", func(b *testing.B) { run(b, newWorld(b, cost.Limits{}).Meter(answers{}, "p/cheap"), req, nothing) })
	b.Run("others are limited", func(b *testing.B) { run(b, newWorld(b, cost.Limits{Job: 1}).Meter(answers{}, "p/cheap"), req, nothing) })
	b.Run("all is spent", func(b *testing.B) {
		w := newWorld(b, cost.Limits{Actions: 1})
		p := w.Meter(answers{}, "p/cheap")
		for range 2 {
			_, _ = ask(context.Background(), p, chela.Request{})
		}
		run(b, p, req, nothing)
	})
	b.Run("a limit is kept", func(b *testing.B) {
		w := newWorld(b, cost.Limits{Day: 1000 * chela.USD})
		req := req
		req.MaxTokens = 10
		run(b, w.Meter(answers{}, "p/cheap"), req, func(f *chela.Finish) { w.settle(b, req.Payer, f) })
	})
}

// TestNothingLimits shows that the ledger costs next to nothing where nothing
// limits: a few small allocations, and no look at the database.
func TestNothingLimits(t *testing.T) {
	req := chela.Request{Payer: payer("turn_0"), Tokens: 1000}
	w := newWorld(t, cost.Limits{Job: 1})
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	p := w.Meter(answers{}, "p/cheap")
	with := testing.AllocsPerRun(100, func() {
		if f, err := ask(t.Context(), p, req); err != nil || f.Charge.Cost != 1100 {
			t.Errorf("%+v, %v", f, err)
		}
	})
	without := testing.AllocsPerRun(100, func() { _, _ = ask(t.Context(), answers{}, req) })
	if with-without > 5 {
		t.Errorf("the ledger makes %v allocations of its own", with-without)
	}
}

package cost_test

import (
	"errors"
	"strings"
	"testing"

	"chela"
	"chela/internal/engine/cost"
)

// TestUnknownModel shows that a price that is only assumed is a guess.
func TestUnknownModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{})
	f, err := ask(t.Context(), w.Meter(says(1000, 100), "p/other"), chela.Request{Payer: payer("turn_0")})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "charge", chela.Charge{Model: "p/other", Cost: 20_000, Guessed: true}, f.Charge)
}

// TestUnpricedModel refuses a model whose price is not known where a limit of money
// applies, and asks for the price. Without such a limit its cost is unknown.
func TestUnpricedModel(t *testing.T) {
	t.Parallel()
	for limit, limits := range map[chela.Limit]cost.Limits{
		"": {Actions: 5}, chela.LimitDay: {Day: chela.USD}, chela.LimitTurn: {Turn: chela.USD, Actions: 5}, chela.LimitSession: {Session: chela.USD},
	} {
		w := newWorld(t, limits)
		f, err := ask(t.Context(), w.Meter(says(1000, 100), "p/unpriced"), chela.Request{Payer: payer("turn_0")})
		e, refused := errors.AsType[*chela.Error](err)
		switch {
		case limit == "" && (err != nil || f.Charge.Cost != 0 || !f.Charge.Guessed):
			t.Errorf("without a limit of money: %+v, %v", f.Charge, err)
		case limit != "" && (!refused || e.Limit != limit || e.Kind != chela.Exhausted || errors.Is(err, chela.ErrLater)):
			t.Errorf("%s: %v", limit, err)
		case limit != "" && (!strings.Contains(e.Msg, "the price of p/unpriced is not known") || !strings.Contains(e.Hint, "chela models set p/unpriced --input")):
			t.Errorf("%s: %s; %s", limit, e.Msg, e.Hint)
		}
	}
	w := newWorld(t, cost.Limits{Job: chela.USD})
	if _, err := ask(t.Context(), w.Meter(says(1000, 100), "p/unpriced"), chela.Request{Payer: payer("turn_0")}); err != nil {
		t.Errorf("a limit of jobs applies to a turn without one: %v", err)
	}
}

// TestFreeModelIsNotUnpriced asks a model that is known to be free where limits of money
// and of calls apply.
func TestFreeModelIsNotUnpriced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD, Actions: 5})
	if f, err := ask(t.Context(), w.Meter(says(1000, 100), "p/free"), chela.Request{Payer: payer("turn_0")}); err != nil || f.Charge.Guessed {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestBilled charges what the provider says that it charged, whatever the price.
func TestBilled(t *testing.T) {
	t.Parallel()
	billed := chela.MicroUSD(1234)
	for _, name := range []string{"p/cheap", "p/other", "p/unpriced"} {
		w := newWorld(t, cost.Limits{})
		m := says(1000, 100)
		m.chunks[len(m.chunks)-1].Finish.Billed = &billed
		f, err := ask(t.Context(), w.Meter(m, name), chela.Request{Payer: payer("turn_0")})
		if err != nil || f.Charge.Cost != billed || f.Charge.Guessed {
			t.Errorf("%s: %+v, %v", name, f.Charge, err)
		}
	}
}

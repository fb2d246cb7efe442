package cost_test

import (
	"testing"
	"time"

	"chela"
	"chela/internal/cost"
	"chela/internal/store"
)

// leave reserves a call for a payer in another process, and leaves it open.
func (w *world) leave(t testing.TB, node chela.NodeID, p chela.Payer) {
	t.Helper()
	f, err := ask(t.Context(), w.again(node, cost.Limits{Day: chela.USD}).Wrap(says(1000, 10), "p/cheap"), chela.Request{Payer: p, MaxTokens: 890})
	if err != nil || f.Charge.ID == "" {
		t.Fatalf("%+v, %v", f, err)
	}
}

// TestTend shows which reservations are lost, and which are not.
func TestTend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		node  chela.NodeID
		payer chela.Payer
		after func(t *testing.T, w *world)
		lost  bool
	}{
		"of a process that lives": {node: "node_b", payer: payer("turn_0")},
		"its own":                 {node: "node_a", payer: payer("turn_0")},
		"of a dead process":       {node: "node_b", payer: payer("turn_0"), after: func(_ *testing.T, w *world) { w.dead["node_b"] = true }, lost: true},
		"of a turn that has ended": {node: "node_b", payer: payer("turn_0"), lost: true, after: func(t *testing.T, w *world) {
			err := w.store.Write(t.Context(), "test", func(tx *store.Write) error {
				turn, err := tx.Turn(t.Context(), "turn_0")
				turn.State = chela.TurnInterrupted
				if err == nil {
					err = tx.MoveTurn(t.Context(), turn, chela.TurnProcessing)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}},
		"older than any call": {node: "node_b", payer: payer("turn_0"), after: func(_ *testing.T, w *world) { w.at(noon.Add(26 * time.Hour)) }, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, cost.Limits{Day: chela.USD})
			w.leave(t, c.node, c.payer)
			if c.after != nil {
				c.after(t, w)
			}
			w.Tend(t.Context())
			want := []string{"reserved p/cheap $0.01"}
			if c.lost {
				want = []string{"lost p/cheap $0.01"}
			}
			same(t, "rows", want, w.rows(t, "turn_0"))
		})
	}
}

// TestDeadMoneyIsFreed shows that what a dead process has reserved is no reason
// to refuse, as far as it is more than what can be lost.
func TestDeadMoneyIsFreed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: 20_000})
	w.leave(t, "node_b", payer("turn_0"))
	w.dead["node_b"] = true
	req := chela.Request{Payer: payer("turn_1"), MaxTokens: 890}
	if _, err := ask(t.Context(), w.Wrap(says(1000, 10), "p/cheap"), req); err != nil {
		t.Error(err)
	}
	same(t, "rows of the dead", []string{"reserved p/cheap $0.01"}, w.rows(t, "turn_0")) // nobody had to look
	_, err := ask(t.Context(), w.Wrap(says(1000, 10), "p/cheap"), chela.Request{Payer: payer("turn_2"), MaxTokens: 890})
	if chela.KindOf(err) != chela.Exhausted {
		t.Errorf("with nothing left: %v", err)
	}
	same(t, "rows of the dead", []string{"lost p/cheap $0.01"}, w.rows(t, "turn_0"))
}

// TestTurnAsksAgain shows that a run gives up what an earlier one has reserved.
func TestTurnAsksAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD})
	w.leave(t, "node_b", payer("turn_0"))
	req := chela.Request{Payer: payer("turn_0"), MaxTokens: 890, Again: true}
	f, err := ask(t.Context(), w.Wrap(says(1000, 10), "p/cheap"), req)
	if err != nil {
		t.Fatal(err)
	}
	w.settle(t, req.Payer, f)
	same(t, "rows", []string{"lost p/cheap $0.01", "settled p/cheap $0.0011"}, w.rows(t, "turn_0"))
}

// TestAgainWithoutLimits shows what a dead process had asked without a
// reservation.
func TestAgainWithoutLimits(t *testing.T) {
	t.Parallel()
	for model, want := range map[string][]string{
		"p/cheap": {"lost p/cheap $0.002", "settled p/cheap $0.0011"}, "p/free": {"settled p/free $0.00"},
	} {
		w := newWorld(t, cost.Limits{})
		req := chela.Request{Payer: payer("turn_0"), Tokens: 2000, Again: true}
		f, err := ask(t.Context(), w.Wrap(says(1000, 10), model), req)
		if err != nil {
			t.Fatal(err)
		}
		w.at(noon.Add(time.Second))
		w.settle(t, req.Payer, f)
		same(t, "rows", want, w.rows(t, "turn_0"))
	}
}

// TestAnew shows that an answer that was begun anew is two calls.
func TestAnew(t *testing.T) {
	t.Parallel()
	anew := func() *model {
		m := says(1000, 10)
		m.chunks = append([]chela.Chunk{{Text: "abc"}, {Anew: true}}, m.chunks...)
		return m
	}
	for name, c := range map[string]struct {
		limits cost.Limits
		want   []string
	}{
		"not limited":        {cost.Limits{}, []string{"lost p/cheap $0.00101", "settled p/cheap $0.0011"}},
		"limited":            {cost.Limits{Day: chela.USD}, []string{"lost p/cheap $0.00101", "settled p/cheap $0.0011"}},
		"not enough is left": {cost.Limits{Day: 10_500}, []string{"lost p/cheap $0.00101"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.limits)
			req := chela.Request{Payer: payer("turn_0"), MaxTokens: 890}
			f, err := ask(t.Context(), w.Wrap(anew(), "p/cheap"), req)
			if f != nil {
				w.at(noon.Add(time.Second))
				w.settle(t, req.Payer, f)
			} else if chela.KindOf(err) != chela.Exhausted {
				t.Errorf("ended with %v", err)
			}
			same(t, "rows", c.want, w.rows(t, "turn_0"))
		})
	}
}

// TestSums adds up what was spent, by the days of the owner.
func TestSums(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{})
	zone := time.FixedZone("there", -5*3600)
	w.cfg.Zone = zone
	l := cost.New(w.store, w.cfg)
	for i, at := range []time.Time{noon.Truncate(24 * time.Hour).Add(4*time.Hour + 59*time.Minute), noon, noon.Add(time.Hour), noon.AddDate(0, 0, 1)} {
		w.at(at)
		model := []string{"p/cheap", "p/dear"}[i/2]
		if _, err := ask(t.Context(), l.Wrap(says(1000, int64(i)), model), chela.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	sum := func(day, model string, calls int, in, out int64, cost chela.MicroUSD) chela.UsageSum {
		return chela.UsageSum{Day: day, Model: model, Calls: calls, Tokens: chela.TokenUsage{Input: in, Output: out}, Cost: cost}
	}
	for by, want := range map[chela.UsageBy][]chela.UsageSum{
		chela.UsageByDayModel: {
			sum("2026-05-05", "p/dear", 1, 1000, 3, 10_300), sum("2026-05-04", "p/cheap", 1, 1000, 1, 1010), sum("2026-05-04", "p/dear", 1, 1000, 2, 10_200),
			sum("2026-05-03", "p/cheap", 1, 1000, 0, 1000),
		},
		chela.UsageByDay:   {sum("2026-05-05", "", 1, 1000, 3, 10_300), sum("2026-05-04", "", 2, 2000, 3, 11_210), sum("2026-05-03", "", 1, 1000, 0, 1000)},
		chela.UsageByModel: {sum("", "p/dear", 2, 2000, 5, 20_500), sum("", "p/cheap", 2, 2000, 1, 2010)},
	} {
		got, err := l.Sums(t.Context(), by, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "sums by "+string(by), want, got)
	}
	if _, err := l.Sums(t.Context(), "colour", time.Time{}); chela.KindOf(err) != chela.Invalid {
		t.Errorf("sums by colour: %v", err)
	}
}

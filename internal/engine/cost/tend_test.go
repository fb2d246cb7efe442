package cost_test

import (
	stdcmp "cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"chela"
	"chela/internal/engine/cost"
	"chela/internal/model/provider"
	"chela/internal/store"
)

// leave reserves a call for a payer in another process, and leaves it open.
func (w *world) leave(t testing.TB, node chela.NodeID, p chela.Payer) {
	t.Helper()
	f, err := ask(t.Context(), w.again(node, cost.Limits{Day: chela.USD}).Meter(says(1000, 10), "p/cheap"), chela.Request{Payer: p, MaxTokens: 890})
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
		"as old as the longest call": {node: "node_b", payer: payer("turn_0"), after: func(_ *testing.T, w *world) { w.at(noon.Add(25 * time.Hour)) }},
		"older than any call":        {node: "node_b", payer: payer("turn_0"), after: func(_ *testing.T, w *world) { w.at(noon.Add(26 * time.Hour)) }, lost: true},
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
	if _, err := ask(t.Context(), w.Meter(says(1000, 10), "p/cheap"), req); err != nil {
		t.Error(err)
	}
	same(t, "rows of the dead", []string{"reserved p/cheap $0.01"}, w.rows(t, "turn_0")) // nobody had to look
	_, err := ask(t.Context(), w.Meter(says(1000, 10), "p/cheap"), chela.Request{Payer: payer("turn_2"), MaxTokens: 890})
	if chela.KindOf(err) != chela.Exhausted {
		t.Errorf("with nothing left: %v", err)
	}
	same(t, "rows of the dead", []string{"lost p/cheap $0.01"}, w.rows(t, "turn_0"))
}

// TestDeadAreNotWaitedFor: a call that has no room beside what a dead process may
// have spent is refused at once.
func TestDeadAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]cost.Limits{"money": {Day: 15_000}, "calls": {Actions: 1}} {
		w := newWorld(t, limits)
		w.leave(t, "node_b", payer("turn_0"))
		w.dead["node_b"] = true
		_, err := ask(t.Context(), w.Meter(says(1000, 10), "p/cheap"), chela.Request{Payer: payer("turn_1"), MaxTokens: 890})
		if chela.KindOf(err) != chela.Exhausted {
			t.Errorf("%s: with nothing left: %v", name, err)
		}
		same(t, "time waited", 0, w.clock().Sub(noon))
	}
}

// TestTurnAsksAgain shows what becomes of what a dead process had asked.
func TestTurnAsksAgain(t *testing.T) {
	t.Parallel()
	reserved := func(t *testing.T, w *world) { w.leave(t, "node_b", payer("turn_0")) }
	for name, c := range map[string]struct {
		limits cost.Limits
		before func(t *testing.T, w *world)
		model  string
		want   []string
	}{
		"it had reserved": {limits: cost.Limits{Day: chela.USD}, before: reserved, want: []string{"lost p/cheap $0.01", "settled p/cheap $0.0011"}},
		"it had reserved, and Tend was faster": {
			limits: cost.Limits{Day: chela.USD}, want: []string{"lost p/cheap $0.01", "settled p/cheap $0.0011"},
			before: func(t *testing.T, w *world) {
				reserved(t, w)
				w.dead["node_b"] = true
				w.Tend(t.Context())
			},
		},
		"it had reserved, and nothing limits any more": {before: reserved, want: []string{"lost p/cheap $0.01", "settled p/cheap $0.0011"}},
		"it had reserved, Tend was faster, and nothing limits any more": {
			want: []string{"lost p/cheap $0.01", "settled p/cheap $0.0011"},
			before: func(t *testing.T, w *world) {
				reserved(t, w)
				w.dead["node_b"] = true
				w.Tend(t.Context())
			},
		},
		"another step had reserved": {
			before: func(t *testing.T, w *world) {
				w.leave(t, "node_b", chela.Payer{Session: key, Turn: "turn_0", Step: 2, Purpose: "turn"})
			},
			want: []string{"reserved p/cheap $0.01", "lost p/dear $0.02", "settled p/cheap $0.0011"},
		},
		"another purpose had reserved": {
			before: func(t *testing.T, w *world) {
				w.leave(t, "node_b", chela.Payer{Session: key, Turn: "turn_0", Step: 1, Purpose: "title"})
			},
			want: []string{"reserved p/cheap $0.01", "lost p/dear $0.02", "settled p/cheap $0.0011"},
		},
		"it was settled": {
			before: func(t *testing.T, w *world) {
				reserved(t, w)
				u := w.open(t)[0]
				u.State, u.Cost = chela.UsageSettled, 500
				w.end(t, u)
			},
			want: []string{"settled p/cheap $0.0005", "lost p/dear $0.02", "settled p/cheap $0.0011"},
		},
		"nothing was limited": {want: []string{"lost p/dear $0.02", "settled p/cheap $0.0011"}},
		"it had not reserved": {limits: cost.Limits{Day: chela.USD}, want: []string{"settled p/cheap $0.0011"}},
		"it costs nothing":    {model: "p/free", want: []string{"settled p/free $0.00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.limits)
			if c.before != nil {
				c.before(t, w)
			}
			w.take(t, w.cfg.Node, "turn_0")
			w.at(noon.Add(time.Second))
			asked, models := stdcmp.Or(c.model, "p/cheap"), []string{"p/cheap", "p/dear"}
			if c.model != "" {
				models = []string{c.model}
			}
			m := says(1000, 10)
			req := chela.Request{Payer: payer("turn_0"), Tokens: 2000, MaxTokens: 890, Again: true}
			f, err := ask(t.Context(), w.TakeOver(w.Meter(m, asked), models...), req)
			if err != nil {
				t.Fatal(err)
			}
			w.at(noon.Add(2 * time.Second))
			w.settle(t, req.Payer, f)
			same(t, "rows", c.want, w.rows(t, "turn_0"))
			if m.asked[0].Again {
				t.Error("what was taken over would be taken over once more")
			}
		})
	}
}

// TestOnlyWhoHoldsTheLaneGivesUp: a run that lost its lane and asks again takes
// nothing away from the run that has it.
func TestOnlyWhoHoldsTheLaneGivesUp(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"asks again": false, "takes over": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, cost.Limits{Day: chela.USD})
			w.take(t, "node_b", "turn_0")
			w.leave(t, "node_b", payer("turn_0"))
			m := says(1000, 10)
			req := chela.Request{Payer: payer("turn_0"), MaxTokens: 890, Again: again}
			_, err := ask(t.Context(), w.TakeOver(w.Meter(m, "p/cheap"), "p/cheap"), req)
			if !errors.Is(err, store.ErrLaneLost) || errors.Is(err, chela.ErrLater) || len(m.asked) > 0 {
				t.Errorf("%d requests were made, error %v, want that the lane is lost", len(m.asked), err)
			}
			same(t, "rows", []string{"reserved p/cheap $0.01"}, w.rows(t, "turn_0"))
		})
	}
}

// TestTroubleOfTheStoreIsForLater: a call that the store keeps from being made may
// be made later. What a limit refuses may not.
func TestTroubleOfTheStoreIsForLater(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"reserve": false, "take over": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, cost.Limits{Day: chela.USD})
			m := says(1000, 10)
			p := w.TakeOver(w.Meter(m, "p/cheap"), "p/cheap")
			dear := chela.Request{Payer: payer("turn_0"), Tokens: 2_000_000}
			if _, err := ask(t.Context(), p, dear); chela.KindOf(err) != chela.Exhausted || errors.Is(err, chela.ErrLater) {
				t.Errorf("too dear: %v", err)
			}
			if err := w.store.Close(); err != nil {
				t.Fatal(err)
			}
			_, err := ask(t.Context(), p, chela.Request{Payer: payer("turn_0"), MaxTokens: 890, Again: again})
			if !errors.Is(err, chela.ErrLater) || chela.KindOf(err) != chela.Unavailable || len(m.asked) > 0 {
				t.Errorf("%d requests were made, error %v, want one for later", len(m.asked), err)
			}
		})
	}
}

// TestEachRequestIsPaid shows that requests which are made again within a call are
// rows of their own, also those that nobody sees, and that none is made which a
// limit has not enough left for.
func TestEachRequestIsPaid(t *testing.T) {
	t.Parallel()
	gone := &chela.ProviderError{Kind: chela.Unavailable, Retryable: true, Cut: true}
	for name, c := range map[string]struct {
		limits cost.Limits
		want   []string
		asked  int
	}{
		"not limited":        {cost.Limits{}, []string{"lost p/cheap $0.00101", "lost p/cheap $0.002", "settled p/cheap $0.0011"}, 3},
		"limited":            {cost.Limits{Day: chela.USD}, []string{"lost p/cheap $0.00113", "lost p/cheap $0.0041", "settled p/cheap $0.0011"}, 3},
		"not enough is left": {cost.Limits{Day: 11_500}, []string{"lost p/cheap $0.00113", "lost p/cheap $0.0041"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.limits)
			breaks := &breaking{
				{chunks: []chela.Chunk{{Text: "abc"}}, err: gone},
				{chunks: []chela.Chunk{{Unseen: 300}}, err: gone},
				*says(1000, 10),
			}
			now := noon
			p := provider.Retry(w.Meter(breaks, "p/cheap"), provider.RetryConfig{
				Random: func() float64 { return 0 },
				Wait: func(context.Context, time.Duration) error {
					now = now.Add(time.Second)
					w.at(now)
					return nil
				},
			})
			req := chela.Request{Payer: payer("turn_0"), MaxTokens: 890}
			f, err := ask(t.Context(), p, req)
			if f != nil {
				w.at(now.Add(time.Second))
				w.settle(t, req.Payer, f)
			} else if chela.KindOf(err) != chela.Exhausted {
				t.Errorf("ended with %v", err)
			}
			same(t, "rows", c.want, w.rows(t, "turn_0"))
			if made := 3 - len(*breaks); made != c.asked {
				t.Errorf("%d requests were made, want %d", made, c.asked)
			}
		})
	}
}

// breaking is a model of which each request goes as the next one says.
type breaking []model

func (b *breaking) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	next := (*b)[0]
	*b = (*b)[1:]
	return next.Stream(ctx, req)
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
		if _, err := ask(t.Context(), l.Meter(says(1000, int64(i)), model), chela.Request{}); err != nil {
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
	gone := chela.Request{Payer: chela.Payer{Routine: "rtn_gone", Purpose: "routine"}}
	if _, err := ask(t.Context(), l.Meter(says(1000, 0), "p/cheap"), gone); err != nil {
		t.Fatal(err)
	}
	got, err := l.Sums(t.Context(), chela.UsageByRoutine, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(got, func(s chela.UsageSum) bool { return s.Routine == "rtn_gone" })
	if i < 0 || got[i].RoutineName != "" || got[i].Calls != 1 {
		t.Errorf("sums by routine, of which one was deleted: %+v", got)
	}
	if _, err := l.Sums(t.Context(), "colour", time.Time{}); chela.KindOf(err) != chela.Invalid {
		t.Errorf("sums by colour: %v", err)
	}
}

package cost_test

import (
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"chela"
	"chela/internal/engine/cost"
	"chela/internal/store"
)

// stopped ends a request from outside once something came.
func stopped(t testing.TB, p chela.Provider, req chela.Request) error {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for c, err := range p.Stream(ctx, &req) {
		if err != nil {
			return err
		}
		if c.Text != "" {
			cancel()
		}
	}
	return nil
}

// An ending is how a call may end, and what its row says then.
type ending struct {
	name     string
	model    *model
	req      chela.Request
	demand   bool   // it reasons on demand
	drop     bool   // the caller leaves after the first chunk
	limited  string // the row
	unbudget string // the row without a limit; empty for none
}

func endings() map[string]ending {
	text, args := chela.Chunk{Text: "twelve bytes"}, chela.Chunk{Unseen: 300}
	refused := &chela.ProviderError{Kind: chela.Unavailable, Unpaid: true, Msg: "no"}
	return map[string]ending{
		"settled":         {model: says(1000, 100), limited: "settled p/cheap $0.002", unbudget: "settled p/cheap $0.002"},
		"refused at once": {model: &model{err: refused}, limited: "released p/cheap $0.00"},
		"refused in its first event": {
			model: &model{err: &chela.ProviderError{Kind: chela.Invalid, Status: 200, Overflow: true, Unpaid: true}}, limited: "released p/cheap $0.00",
		},
		"given up by a gateway": {
			model: &model{err: &chela.ProviderError{Kind: chela.Unavailable, Status: 504}}, limited: "lost p/cheap $0.0011", unbudget: "lost p/cheap $0.001",
		},
		"given up by a gateway, in one piece": {
			req: chela.Request{Plain: true}, model: &model{err: &chela.ProviderError{Kind: chela.Unavailable, Status: 504}},
			limited: "lost p/cheap $0.0061", unbudget: "lost p/cheap $0.001",
		},
		"not asked":                {model: &model{err: errors.New("no such picture")}, limited: "released p/cheap $0.00"},
		"refused while it answers": {model: &model{chunks: []chela.Chunk{text}, err: refused}, limited: "lost p/cheap $0.00122", unbudget: "lost p/cheap $0.00104"},
		"refused after one byte": {
			model:   &model{chunks: []chela.Chunk{{Text: "x"}}, err: refused},
			limited: "lost p/cheap $0.00111", unbudget: "lost p/cheap $0.00101",
		},
		"refused while it thinks": {
			model:   &model{chunks: []chela.Chunk{{Thinking: "twelve bytes"}}, err: refused},
			limited: "lost p/cheap $0.00122", unbudget: "lost p/cheap $0.00104",
		},
		"cut off before anything came": {
			model:   &model{err: &chela.ProviderError{Kind: chela.Unavailable, Cut: true}},
			limited: "lost p/cheap $0.0011", unbudget: "lost p/cheap $0.001",
		},
		"without an end":        {model: &model{chunks: []chela.Chunk{text}}, limited: "lost p/cheap $0.00122", unbudget: "lost p/cheap $0.00104"},
		"left":                  {model: says(1000, 100), drop: true, limited: "lost p/cheap $0.00112", unbudget: "lost p/cheap $0.00101"},
		"cut off inside a call": {model: &model{chunks: []chela.Chunk{args}, err: refused}, limited: "lost p/cheap $0.0041", unbudget: "lost p/cheap $0.002"},
		"more than was reserved": {
			model: &model{chunks: []chela.Chunk{{Unseen: 9000}}, err: refused}, limited: "lost p/cheap $0.0061", unbudget: "lost p/cheap $0.031",
		},
		"cut off while it may think": {
			name: "p/thinks", model: &model{chunks: []chela.Chunk{text}, err: refused}, limited: "lost p/thinks $0.0061", unbudget: "lost p/thinks $0.00104",
		},
		"cut off where it may not think": {
			name: "p/thinks", req: chela.Request{Thinking: chela.ThinkingOff}, model: &model{chunks: []chela.Chunk{text}, err: refused},
			limited: "lost p/thinks $0.00122", unbudget: "lost p/thinks $0.00104",
		},
		"cut off where it thinks on demand": {
			name: "p/thinks", demand: true, model: &model{chunks: []chela.Chunk{text}, err: refused},
			limited: "lost p/thinks $0.00122", unbudget: "lost p/thinks $0.00104",
		},
		"cut off where thinking was demanded": {
			demand: true, req: chela.Request{Thinking: chela.ThinkingLow}, model: &model{chunks: []chela.Chunk{text}, err: refused},
			limited: "lost p/cheap $0.0061", unbudget: "lost p/cheap $0.00104",
		},
		"cut off in one piece": {
			req: chela.Request{Plain: true}, model: &model{err: &chela.ProviderError{Kind: chela.Unavailable, Cut: true}},
			limited: "lost p/cheap $0.0061", unbudget: "lost p/cheap $0.001",
		},
	}
}

// TestEndings shows what becomes of the row of a call, however that ends. What a
// limit applies to costs the most that it can have cost, the rest a guess of it.
func TestEndings(t *testing.T) {
	t.Parallel()
	for name, c := range endings() {
		for limit, want := range map[cost.Limits]string{{Day: 5 * chela.USD}: c.limited, {}: c.unbudget} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, limit)
				m, req := *c.model, c.req
				var answers chela.Provider = &m
				if c.demand {
					answers = onDemand{&m}
				}
				p := w.Meter(answers, stdcmp.Or(c.name, "p/cheap"))
				req.Payer, req.MaxTokens = payer("turn_0"), 500
				if c.drop {
					_ = stopped(t, p, req)
				} else if f, _ := ask(t.Context(), p, req); f != nil {
					w.settle(t, req.Payer, f)
				}
				var rows []string
				if want != "" {
					rows = []string{want}
				}
				same(t, "rows", rows, w.rows(t, "turn_0"))
				for _, u := range w.usage(t, "turn_0") {
					same(t, "guessed", u.State == chela.UsageLost, u.Guessed)
				}
				if open := w.open(t); len(open) != 0 {
					t.Errorf("reservations are left: %+v", open)
				}
			})
		}
	}
}

// An onDemand model reasons only where a request says so.
type onDemand struct{ chela.Provider }

func (onDemand) ReasonsOnDemand(string) bool { return true }

// open returns what is reserved.
func (w *world) open(t testing.TB) []chela.Usage {
	t.Helper()
	open, err := store.Find(t.Context(), w.store, func(r *store.Read) ([]chela.Usage, error) { return r.Reservations(t.Context(), "") })
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// TestCallsWithoutATurn shows that the ledger settles them itself.
func TestCallsWithoutATurn(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]cost.Limits{"limited": {Day: chela.USD}, "not limited": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, limits)
			f, err := ask(t.Context(), w.Meter(says(1000, 100), "p/cheap"), chela.Request{Payer: chela.Payer{Purpose: "test"}})
			if err != nil || f.Charge.Cost != 2000 {
				t.Fatalf("%+v, %v", f, err)
			}
			sums, err := w.Sums(t.Context(), chela.UsageByPurpose, time.Time{})
			want := []chela.UsageSum{{Purpose: "test", Calls: 1, Tokens: chela.TokenUsage{Input: 1000, Output: 100}, Cost: 2000}}
			same(t, "sums", want, sums)
			if err != nil || len(w.open(t)) != 0 {
				t.Errorf("%v, open: %+v", err, w.open(t))
			}
		})
	}
}

// TestReserve shows what a call takes out of its budgets while it is under way,
// and what it leaves.
func TestReserve(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD, Session: 2 * chela.USD})
	p := payer("turn_0")
	for c, err := range w.Meter(says(1000, 500), "p/dear").Stream(t.Context(), &chela.Request{Payer: p, Tokens: 2000, MaxTokens: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		open := w.open(t)
		if len(open) != 1 || open[0].Cost != 2200*20+1000*100 || open[0].Payer != p || open[0].Node != "node_a" {
			t.Errorf("reserved: %+v", open)
		}
		budgets, err := w.Budgets(t.Context(), key)
		if err != nil || len(budgets) != 2 || budgets[0].Reserved != 144_000 || budgets[1].Left() != int64(2*chela.USD)-144_000 {
			t.Errorf("budgets: %+v, %v", budgets, err)
		}
		if c.Finish != nil {
			if got := c.Finish.Charge; got.Cost != 60_000 || got.Model != "p/dear" || got.ID != open[0].ID {
				t.Errorf("charge: %+v", got)
			}
			w.settle(t, p, c.Finish)
		}
	}
	budgets, err := w.Budgets(t.Context(), "")
	same(t, "budgets of the home", []chela.Budget{{
		Limit: chela.LimitDay, Most: int64(chela.USD), Spent: 60_000, Since: noon.Truncate(24 * time.Hour), Resets: noon.Truncate(24*time.Hour).AddDate(0, 0, 1),
	}}, budgets)
	if err != nil {
		t.Error(err)
	}
}

// TestRefusedCallsAreNoActions shows that a provider which is away does not use up
// the calls of the hour.
func TestRefusedCallsAreNoActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Actions: 2})
	away := w.Meter(&model{err: &chela.ProviderError{Kind: chela.Unavailable, Unpaid: true}}, "p/cheap")
	there := w.Meter(says(1000, 10), "p/cheap")
	for range 3 {
		if _, err := ask(t.Context(), away, chela.Request{Payer: payer("turn_0")}); chela.KindOf(err) != chela.Unavailable {
			t.Errorf("refused with %v", err)
		}
	}
	for _, want := range []chela.Kind{"", "", chela.Exhausted} {
		if _, err := ask(t.Context(), there, chela.Request{}); chela.KindOf(err) != want {
			t.Errorf("ended with %v, want %q", err, want)
		}
	}
}

// TestLimitsOfOthers shows that processes with other limits, in other zones, or
// with none spend from the same budgets.
func TestLimitsOfOthers(t *testing.T) {
	t.Parallel()
	there := time.FixedZone("there", -9*3600)
	for name, other := range map[string]struct {
		limits cost.Limits
		zone   *time.Location
	}{
		"no limits":          {cost.Limits{}, time.UTC},
		"a limit of another": {cost.Limits{Session: chela.USD, Actions: 100}, time.UTC},
		"another zone":       {cost.Limits{Day: chela.USD}, there},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, cost.Limits{Day: 10_000})
			cfg := w.cfg
			cfg.Node, cfg.Limits, cfg.Zone = "node_b", other.limits, other.zone
			spend := func(l *cost.Ledger, of chela.TurnID) error {
				req := chela.Request{Payer: payer(of), Tokens: 1000, MaxTokens: 190} // 3,000 at most, 2,000 in the end
				f, err := ask(t.Context(), l.Meter(says(1000, 100), "p/cheap"), req)
				if err == nil {
					w.settle(t, req.Payer, f)
				}
				return err
			}
			others := cost.New(w.store, cfg)
			for i, l := range []*cost.Ledger{w.Ledger, others, w.Ledger, others} {
				if err := spend(l, chela.TurnID(fmt.Sprint("turn_", i))); err != nil {
					t.Fatal(err)
				}
			}
			if err := spend(w.Ledger, "turn_4"); chela.KindOf(err) != chela.Exhausted {
				t.Errorf("with 8,000 of 10,000 spent: %v", err)
			}
			// What they have reserved is not free for others, and not freed twice.
			left := chela.Request{Payer: payer("turn_5"), Tokens: 100, MaxTokens: 90}
			if _, err := ask(t.Context(), others.Meter(says(1000, 10), "p/cheap"), left); err != nil {
				t.Fatal(err)
			}
			budgets, err := w.Budgets(t.Context(), "")
			if err != nil || budgets[0].Spent < 8000 {
				t.Errorf("%+v, %v", budgets, err)
			}
		})
	}
}

// TestRefusals reaches each limit.
func TestRefusals(t *testing.T) {
	t.Parallel()
	job := chela.Payer{Session: key, Turn: "turn_0", Job: "job_1", Routine: "rtn_1", Purpose: "turn"}
	for limit, limits := range map[chela.Limit]cost.Limits{
		chela.LimitDay:     {Day: 20_100},
		chela.LimitSession: {Session: 20_100},
		chela.LimitTurn:    {Turn: 20_100},
		chela.LimitJob:     {Job: 20_100},
		chela.LimitRoutine: {Routine: 20_100},
		chela.LimitActions: {Actions: 2},
	} {
		t.Run(string(limit), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, limits)
			m := says(1000, 900)
			p := w.Meter(m, "p/cheap")
			for n := 1; ; n++ {
				f, err := ask(t.Context(), p, chela.Request{Payer: job, MaxTokens: 900})
				if err == nil {
					w.settle(t, job, f)
					continue
				}
				var e *chela.Error
				if !errors.As(err, &e) || e.Kind != chela.Exhausted || e.Limit != limit || e.Hint == "" || n != 3 {
					t.Errorf("call %d: %#v", n, err)
				}
				break
			}
			if len(m.asked) != 2 {
				t.Errorf("the model was asked %d times", len(m.asked))
			}
			same(t, "rows", []string{"settled p/cheap $0.01", "settled p/cheap $0.01"}, w.rows(t, "turn_0"))
			other := chela.Payer{Purpose: "other"}
			_, err := ask(t.Context(), p, chela.Request{Payer: other, MaxTokens: 900})
			if ofHome := limit == chela.LimitDay || limit == chela.LimitActions; (err != nil) != ofHome {
				t.Errorf("a call of somebody else: %v", err)
			}
			w.at(noon.AddDate(0, 0, 1))
			_, err = ask(t.Context(), p, chela.Request{Payer: job, MaxTokens: 900})
			if never := limit == chela.LimitSession || limit == chela.LimitTurn || limit == chela.LimitJob; (err != nil) != never {
				t.Errorf("a day later: %v", err)
			}
		})
	}
}

// TestShorterAnswers shows that an answer has to be shorter where the rest of a
// limit is enough for that.
func TestShorterAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		day  chela.MicroUSD
		max  int // of the request
		want int // that the provider is asked for; 0 for a refusal
	}{
		"all of it fits":                 {1_200_000, 0, 10_000},
		"what was asked for fits":        {100_000, 700, 700},
		"a part fits":                    {1100 + 15_000, 0, 1500},
		"a part of what was asked for":   {1100 + 15_000, 2000, 1500},
		"the least":                      {1100 + 10_240, 0, 1024},
		"less than the least":            {1100 + 10_239, 0, 0},
		"less than the little asked for": {1100 + 690, 70, 0},
		"exactly the little asked for":   {1100 + 700, 70, 70},
		"not even the prompt":            {1000, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, cost.Limits{Day: c.day})
			m := says(1000, 10)
			_, err := ask(t.Context(), w.Meter(m, "p/cheap"), chela.Request{Payer: payer("turn_0"), Tokens: 1000, MaxTokens: c.max})
			got := 0
			if len(m.asked) > 0 {
				got = m.asked[0].MaxTokens
			}
			if got != c.want || (err == nil) != (c.want > 0) {
				t.Errorf("%d tokens were asked for, want %d; %v", got, c.want, err)
			}
		})
	}
}

// TestChoicesShareABudget reserves all choices of an answer, and shortens each where
// they do not fit together.
func TestChoicesShareABudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: 1100 + 60_000})
	m := says(1000, 10)
	req := chela.Request{Payer: payer("turn_0"), Tokens: 1000, MaxTokens: 5000, Sampling: &chela.Sampling{Choices: 3}}
	if _, err := ask(t.Context(), w.Meter(m, "p/cheap"), req); err != nil || m.asked[0].MaxTokens != 2000 {
		t.Errorf("%d tokens were asked for, want 2000; %v", m.asked[0].MaxTokens, err)
	}
}

// TestActionsAlone shows that a limit of calls says nothing of how long answers may
// be, also where the first try finds no budget.
func TestActionsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Actions: 5})
	w.take(t, w.cfg.Node, "turn_0")
	m := says(1000, 10)
	if _, err := ask(t.Context(), w.Meter(m, "p/cheap"), chela.Request{Payer: payer("turn_0"), Tokens: 1000}); err != nil || m.asked[0].MaxTokens != 0 {
		t.Errorf("%d tokens were asked for, %v", m.asked[0].MaxTokens, err)
	}
	err := w.store.Write(t.Context(), "test", func(tx *store.Write) error { return tx.ForgetBudgets(t.Context(), noon.Add(time.Hour)) })
	if err != nil {
		t.Fatal(err)
	}
	m = says(1000, 10)
	if _, err := ask(t.Context(), w.Meter(m, "p/cheap"), chela.Request{Payer: payer("turn_1"), Tokens: 1000}); err != nil || m.asked[0].MaxTokens != 0 {
		t.Errorf("%d tokens were asked for, %v", m.asked[0].MaxTokens, err)
	}
}

// TestUncounted charges what a server must have read and written that does not say
// how much it was.
func TestUncounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: chela.USD})
	f, err := ask(t.Context(), w.Meter(says(0, 0), "p/cheap"), chela.Request{Payer: payer("turn_0"), Tokens: 1000})
	if err != nil || f.Charge.Cost != 1000+10 || !f.Charge.Guessed {
		t.Errorf("%+v, %v", f, err)
	}
	row := f.Charge.Settle(payer("turn_0"), f.Usage, noon)
	same(t, "tokens of the row", chela.TokenUsage{Input: 1000, Output: 1}, row.Tokens)
}

// TestLongestAnswer shows how many tokens are reserved for an answer of which the
// request does not say how long it may be.
func TestLongestAnswer(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]string{0: "reserved p/cheap $0.04206", 1: "reserved p/cheap $0.00111", 5000: "reserved p/cheap $0.0511"} {
		w := newWorld(t, cost.Limits{Day: chela.USD})
		w.cfg.Models = priced{output: most}
		if _, err := ask(t.Context(), cost.New(w.store, w.cfg).Meter(says(1000, 1), "p/cheap"), chela.Request{Payer: payer("turn_0")}); err != nil {
			t.Error(err)
		}
		same(t, "rows", []string{want}, w.rows(t, "turn_0"))
	}
}

// TestFreeModels shows that limits of money are no matter of what costs nothing.
func TestFreeModels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: 1})
	f, err := ask(t.Context(), w.Meter(says(1000, 10), "p/free"), chela.Request{Payer: payer("turn_0")})
	if err != nil || f.Charge != (chela.Charge{Model: "p/free"}) {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := ask(t.Context(), w.Meter(says(1000, 10), "p/cheap"), chela.Request{Payer: payer("turn_0")}); err == nil {
		t.Error("what costs something was not refused")
	}
	if _, err := ask(t.Context(), w.Meter(says(1000, 10), "p/free"), chela.Request{Payer: payer("turn_0")}); err != nil {
		t.Errorf("after a refusal: %v", err)
	}
}

// TestRefusesWithoutTheDatabase shows that what is spent is known without a look.
func TestRefusesWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: 10_000})
	p := w.Meter(says(1000, 900), "p/cheap")
	req := chela.Request{Payer: payer("turn_0"), MaxTokens: 890}
	f, err := ask(t.Context(), p, req)
	if err != nil {
		t.Fatal(err)
	}
	w.settle(t, req.Payer, f)
	_, first := ask(t.Context(), p, req)
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	_, second := ask(t.Context(), p, req)
	if chela.KindOf(first) != chela.Exhausted || !errors.Is(second, first) {
		t.Errorf("refused with %v, then %v", first, second)
	}
	w.at(noon.AddDate(0, 0, 1))
	if _, err := ask(t.Context(), p, req); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("the next day: %v, want a look at the database", err)
	}
}

// TestWarning warns once, when most of a limit is spent.
func TestWarning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: 25_000})
	p := w.Meter(says(1000, 300), "p/cheap")
	for range 5 {
		req := chela.Request{Payer: payer("turn_0"), MaxTokens: 300}
		f, err := ask(t.Context(), p, req)
		if err != nil {
			t.Fatal(err)
		}
		w.settle(t, req.Payer, f)
	}
	if len(w.events) != 0 {
		t.Errorf("warned too early: %+v", w.events)
	}
	w.at(noon.Add(time.Minute))
	cheap := w.Meter(says(100, 10), "p/cheap")
	for range 2 {
		req := chela.Request{Payer: payer("turn_1"), MaxTokens: 10, Tokens: 100}
		if f, err := ask(t.Context(), cheap, req); err == nil {
			w.settle(t, req.Payer, f)
		}
	}
	want := []chela.Event{{
		Kind: chela.EventNotice, Session: key, Turn: "turn_1", At: noon.Add(time.Minute),
		Text: "$0.02 of the limit of $0.025 per day is spent; the limit resets at 2026-05-05 00:00 UTC",
	}}
	same(t, "events", want, w.events)
}

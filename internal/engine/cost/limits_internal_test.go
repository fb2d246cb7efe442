package cost

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
)

func TestPeriods(t *testing.T) {
	t.Parallel()
	zone := func(name string) *time.Location {
		l, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for name, c := range map[string]struct {
		of         func(time.Time, *time.Location) (time.Time, time.Time)
		at         string
		zone       string
		begin, end string // in UTC
	}{
		"a day in UTC":              {dayOf, "2026-05-04T23:59:59Z", "UTC", "2026-05-04T00:00:00Z", "2026-05-05T00:00:00Z"},
		"midnight begins a day":     {dayOf, "2026-05-05T00:00:00Z", "UTC", "2026-05-05T00:00:00Z", "2026-05-06T00:00:00Z"},
		"a day elsewhere":           {dayOf, "2026-05-04T23:59:59Z", "Asia/Kathmandu", "2026-05-04T18:15:00Z", "2026-05-05T18:15:00Z"},
		"a day of 23 hours":         {dayOf, "2026-03-29T12:00:00Z", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		"a day of 25 hours":         {dayOf, "2026-10-25T12:00:00Z", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},
		"a day without midnight":    {dayOf, "2018-11-04T12:00:00Z", "America/Sao_Paulo", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		"an hour":                   {hourOf, "2026-05-04T12:59:59.999Z", "UTC", "2026-05-04T12:00:00Z", "2026-05-04T13:00:00Z"},
		"an hour of the clock":      {hourOf, "2026-05-04T12:10:00Z", "Asia/Kathmandu", "2026-05-04T11:15:00Z", "2026-05-04T12:15:00Z"},
		"the hour that comes twice": {hourOf, "2026-10-25T01:30:00Z", "Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, err := time.Parse(time.RFC3339, c.at)
			if err != nil {
				t.Fatal(err)
			}
			begin, end := c.of(at, zone(c.zone))
			got := []string{begin.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339)}
			if diff := cmp.Diff([]string{c.begin, c.end}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	all := Limits{Day: 1, Session: 2, Turn: 3, Job: 4, Routine: 5, Actions: 6}
	whole := chela.Payer{Session: "s", Turn: "t", Job: "j", Routine: "r"}
	for name, c := range map[string]struct {
		limits Limits
		payer  chela.Payer
		want   []chela.Limit
	}{
		"no limits":            {Limits{}, whole, nil},
		"all":                  {all, whole, []chela.Limit{chela.LimitActions, chela.LimitDay, chela.LimitSession, chela.LimitTurn, chela.LimitJob, chela.LimitRoutine}},
		"a call of nobody":     {all, chela.Payer{}, []chela.Limit{chela.LimitActions, chela.LimitDay}},
		"a turn of a person":   {all, chela.Payer{Session: "s", Turn: "t"}, []chela.Limit{chela.LimitActions, chela.LimitDay, chela.LimitSession, chela.LimitTurn}},
		"a limit of others":    {Limits{Job: 1, Routine: 1}, chela.Payer{Session: "s", Turn: "t"}, nil},
		"one limit":            {Limits{Session: 1}, whole, []chela.Limit{chela.LimitSession}},
		"a limit below nought": {Limits{Session: -1}, whole, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []chela.Limit
			for _, b := range budgetsOf(c.limits, c.payer, false) {
				got = append(got, b.Limit)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestMost(t *testing.T) {
	t.Parallel()
	cheap := quote{price: chela.Price{Rates: chela.Rates{Input: chela.USD, Output: 10 * chela.USD, CacheWrite: chela.USD / 2}}}
	caches := quote{price: chela.Price{Rates: chela.Rates{Input: chela.USD, Output: 10 * chela.USD, CacheWrite: 2 * chela.USD}}}
	long := quote{price: chela.Price{Rates: cheap.price.Rates, LongFrom: 105, Long: chela.Rates{Input: 4 * chela.USD, Output: 20 * chela.USD}}}
	for name, c := range map[string]struct {
		quote quote
		want  chela.MicroUSD
	}{
		"input is dearer":                  {cheap, 110 + 500},
		"writing into the cache is dearer": {caches, 220 + 500},
		"a prompt that may be long":        {long, 440 + 1000},
		"what costs nothing":               {quote{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := c.quote
			if got := q.most(100, 50); got != c.want {
				t.Errorf("it costs %d at most, want %d", got, c.want)
			}
			for left := range chela.MicroUSD(2000) {
				n := q.affordable(100, 50, left)
				if n < 0 || n > 50 || n > 0 && q.most(100, n) > left || n < 50 && q.most(100, n+1) <= left {
					t.Fatalf("with %d left, %d tokens of output fit", left, n)
				}
			}
		})
	}
}

func budgetsOf(l Limits, p chela.Payer, free bool) []chela.Budget {
	return New(nil, Config{Limits: l, Zone: time.UTC}).budgets(p, time.Unix(0, 0), free)
}

// TestWhichLimitsApply: a limit applies to the payers that it is about. Limits of
// money apply to no call that is free.
func TestWhichLimitsApply(t *testing.T) {
	t.Parallel()
	all := chela.Payer{Session: "s", Turn: "t", Job: "j", Routine: "r"}
	if len(budgetsOf(Limits{}, all, false)) > 0 {
		t.Error("no limit applies")
	}
	for name, c := range map[string]struct {
		limits  Limits
		without chela.Payer // whom it is not about
		anyone  bool        // it applies to everyone
	}{
		"day":     {Limits{Day: 1}, chela.Payer{}, true},
		"actions": {Limits{Actions: 1}, chela.Payer{}, true},
		"session": {Limits{Session: 1}, chela.Payer{Turn: "t", Job: "j", Routine: "r"}, false},
		"turn":    {Limits{Turn: 1}, chela.Payer{Session: "s", Job: "j", Routine: "r"}, false},
		"job":     {Limits{Job: 1}, chela.Payer{Session: "s", Turn: "t", Routine: "r"}, false},
		"routine": {Limits{Routine: 1}, chela.Payer{Session: "s", Turn: "t", Job: "j"}, false},
	} {
		free := c.limits.Actions > 0
		applies := func(p chela.Payer, free bool) bool { return len(budgetsOf(c.limits, p, free)) > 0 }
		if !applies(all, false) || applies(c.without, false) != c.anyone || applies(all, true) != free {
			t.Errorf("%s: applies to all %v, without %v, free %v", name, applies(all, false), applies(c.without, false), applies(all, true))
		}
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	resets := time.Date(2026, 5, 4, 22, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		b         chela.Budget
		need      int64
		msg, hint string
	}{
		"day": {
			chela.Budget{Limit: chela.LimitDay, Most: 5_000_000, Spent: 4_900_000, Reserved: 50_000, Resets: resets},
			100_000,
			"the limit of $5.00 per day is too low for the next call, which may cost $0.10: $4.90 is spent, $0.05 reserved for calls in flight; it resets at 2026-05-05 00:00 CEST",
			"raise it with chela config set limits.usd_per_day 10.00, which takes effect at the next start",
		},
		"session": {
			chela.Budget{Limit: chela.LimitSession, Key: "s", Most: 10_000, Spent: 12_000},
			7_000,
			"the limit of $0.01 per session is reached: $0.012 is spent; it never resets, but each session has a limit of its own",
			"raise it with chela config set limits.usd_per_session 0.02, which takes effect at the next start",
		},
		"twice as much would not do": {
			chela.Budget{Limit: chela.LimitTurn, Key: "t", Most: 100},
			11_340,
			"the limit of $0.0001 per turn is too low for the next call, which may cost $0.01134: $0.00 is spent",
			"raise it with chela config set limits.usd_per_turn 0.02, which takes effect at the next start",
		},
		"calls in flight": {
			chela.Budget{Limit: chela.LimitTurn, Key: "t", Most: 10_000, Spent: 5_000, Reserved: 5_000},
			30_000,
			"the limit of $0.01 per turn is reached: $0.005 is spent, $0.005 reserved for calls in flight",
			"raise it with chela config set limits.usd_per_turn 0.04, which takes effect at the next start",
		},
		"actions": {
			chela.Budget{Limit: chela.LimitActions, Most: 60, Spent: 60, Resets: resets},
			1,
			"the limit of 60 model calls per hour is reached; it resets at 2026-05-05 00:00 CEST",
			"raise it with chela config set limits.actions_per_hour 120, which takes effect at the next start",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := refusal(c.b, c.need, berlin)
			if diff := cmp.Diff([]string{c.msg, c.hint}, []string{got.Msg, got.Hint}); diff != "" || got.Kind != chela.Exhausted || got.Limit != c.b.Limit {
				t.Errorf("%s %s (-want +got)\n%s", got.Kind, got.Limit, diff)
			}
		})
	}
}

func TestWarningText(t *testing.T) {
	t.Parallel()
	resets := time.Date(2026, 5, 4, 22, 0, 0, 0, time.UTC)
	for want, b := range map[string]chela.Budget{
		"$4.00 of the limit of $5.00 per day is spent; the limit resets at 2026-05-04 22:00 UTC": {
			Limit: chela.LimitDay, Most: 5_000_000, Spent: 4_000_000, Resets: resets,
		},
		"$4.00 of the limit of $5.00 per session is spent":    {Limit: chela.LimitSession, Most: 5_000_000, Spent: 4_000_000},
		"50 of the limit of 60 model calls per hour are used": {Limit: chela.LimitActions, Most: 60, Spent: 50},
	} {
		if got := warning(b, time.UTC); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestCountedBudgetsAreBounded: of more than 10,000 budgets none is remembered as
// counted.
func TestCountedBudgetsAreBounded(t *testing.T) {
	t.Parallel()
	l := New(nil, Config{})
	budget := func(n int) []chela.Budget { return []chela.Budget{{Limit: chela.LimitTurn, Key: strconv.Itoa(n)}} }
	for n := range 10_001 {
		l.remember(budget(n))
	}
	if len(l.counted) != 10_001 {
		t.Errorf("%d budgets are remembered", len(l.counted))
	}
	l.remember(budget(20_000))
	if len(l.counted) != 1 {
		t.Errorf("%d budgets are remembered after one more", len(l.counted))
	}
}

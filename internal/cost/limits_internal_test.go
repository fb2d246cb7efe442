package cost

import (
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
			for _, b := range c.limits.budgets(c.payer, time.Unix(0, 0), time.UTC) {
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
			"the limit of $5.00 a day is too low for the next call, which may cost $0.10: $4.90 is spent, $0.05 reserved for calls that are under way; it begins anew at 2026-05-05 00:00 CEST",
			"raise it with chela config set limits.usd_per_day 10.00, which holds from the next start on",
		},
		"session": {
			chela.Budget{Limit: chela.LimitSession, Key: "s", Most: 10_000, Spent: 12_000},
			7_000,
			"the limit of $0.01 a session is reached: $0.012 is spent; it never begins anew, but another session has a limit of its own",
			"raise it with chela config set limits.usd_per_session 0.02, which holds from the next start on",
		},
		"twice as much would not do": {
			chela.Budget{Limit: chela.LimitTurn, Key: "t", Most: 100},
			11_340,
			"the limit of $0.0001 a turn is too low for the next call, which may cost $0.01134: $0.00 is spent",
			"raise it with chela config set limits.usd_per_turn 0.02, which holds from the next start on",
		},
		"actions": {
			chela.Budget{Limit: chela.LimitActions, Most: 60, Spent: 60, Resets: resets},
			1,
			"the limit of 60 model calls an hour is reached; it begins anew at 2026-05-05 00:00 CEST",
			"raise it with chela config set limits.actions_per_hour 120, which holds from the next start on",
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

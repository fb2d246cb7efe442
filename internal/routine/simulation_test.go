package routine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"chela"
	"chela/internal/routine"
	"chela/internal/routine/rule"
	"chela/internal/store"
)

// zones are those of the simulated month.
var zones = []string{
	"UTC", "Europe/Zurich", "America/New_York", "America/St_Johns", "America/Sao_Paulo", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tokyo",
	"Australia/Lord_Howe", "Pacific/Auckland", "Africa/Cairo", "Antarctica/Troll",
}

// crowd is a number of routines of all sorts.
func crowd(random *rand.Rand, start time.Time) (all []chela.Routine) {
	policies := []chela.Missed{chela.MissedOnce, chela.MissedSkip, chela.MissedAll}
	for n := range 50 {
		v := byHand(fmt.Sprintf("routine%d", n), chela.ActionEvent)
		zone, minute := zones[n%len(zones)], random.IntN(60)
		cron := func(form string, args ...any) chela.Trigger {
			return chela.Trigger{Kind: chela.TriggerCron, Zone: zone, Cron: fmt.Sprintf(form, args...)}
		}
		switch n % 10 {
		case 0:
			v.Trigger = cron("%d * * * *", minute)
		case 1, 2, 3:
			v.Trigger = cron("%d %d * * *", minute, random.IntN(24))
		case 4:
			v.Trigger = cron("%d 2 * * *", minute) // where clocks are changed
		case 5:
			v.Trigger = cron("%d 9 * * MON-FRI", minute)
		case 6:
			v.Trigger = cron("%d 12 L * *", minute)
		case 7:
			v.Trigger = chela.Trigger{Kind: chela.TriggerEvery, Every: 7 * time.Hour}
		case 8:
			v.Trigger = chela.Trigger{Kind: chela.TriggerEvery, Every: time.Duration(1+random.IntN(50)) * time.Hour, Anchor: start.Add(-time.Hour)}
		case 9:
			v.Trigger = chela.Trigger{Kind: chela.TriggerAt, At: start.Add(time.Duration(1+random.IntN(29*24*60)) * time.Minute)}
		}
		v.Trigger.Missed = policies[random.IntN(3)]
		all = append(all, v)
	}
	return all
}

// TestSimulatedDays simulates days of two processes of one home, which begin anew at
// random, and are both away for a while now and then. Each due time fires once, as
// the policy of its routine has it; none is early, none is lost.
func TestSimulatedDays(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a while")
	}
	onBoth(t, func(t *testing.T, cfg store.Config) {
		days := 6
		if cfg.URL != "" {
			days = 1
		}
		simulate(t, cfg, days)
	})
}

func simulate(t *testing.T, cfg store.Config, days int) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	clock := &clock{}
	begin := func() *house {
		return open(t, cfg, plan{clock: clock, defaults: func(d *routine.Defaults) { d.KeepRuns = 100_000 }})
	}
	pair := []*house{begin(), begin()}
	start := clock.Now()
	var all []chela.Routine
	for _, v := range crowd(random, start) {
		all = append(all, pair[0].create(v))
	}
	restarts, away := 0, 0
	for hours := 0; hours < days*24; {
		step := 1
		if random.IntN(60) == 0 {
			step = 1 + random.IntN(48)
			away += step
		}
		hours += step
		clock.forward(start.Add(time.Duration(hours) * time.Hour))
		if random.IntN(10) == 0 {
			n := random.IntN(2)
			pair[n].work.Nudge()
			pair[n].stop() // in the middle of whatever it does
			pair[n] = begin()
			restarts++
		}
		for _, h := range pair {
			h.work.Settle(t.Context())
		}
	}
	end := clock.Now()
	for _, h := range pair {
		h.rest()
	}
	counts := tally{}
	for _, v := range all {
		counts.check(pair[0], v, end)
	}
	notes, err := store.Find(t.Context(), pair[0].store, func(r *store.Read) ([]chela.Note, error) {
		return r.Notes(t.Context(), chela.MainKey("main"), 1_000_000)
	})
	if err != nil || len(notes) != counts.fired {
		t.Errorf("%d runs left %d notes, error %v", counts.fired, len(notes), err)
	}
	t.Logf("seed %d: %d days, %d routines, %d restarts, %d hours away: %d times due, %d fired, %d skipped, %d counted by others",
		seed, days, len(all), restarts, away, counts.due, counts.fired, counts.skipped, counts.missed)
}

// A tally counts what became of due times.
type tally struct{ due, fired, skipped, missed int }

func (c *tally) check(h *house, v chela.Routine, end time.Time) {
	h.t.Helper()
	s, err := rule.Times(v.Trigger, time.UTC)
	if err != nil {
		h.t.Fatal(err)
	}
	expected := map[string]bool{}
	for at, ok := s.Next(v.CreatedAt); ok && !at.After(end); at, ok = s.Next(at) {
		expected[at.UTC().Format(time.RFC3339Nano)] = true
	}
	runs, err := h.desk.Runs(h.t.Context(), v.ID, "", 1_000_000)
	if err != nil {
		h.t.Fatal(err)
	}
	seen := 0
	for _, run := range runs {
		seen += 1 + run.Missed
		c.missed += run.Missed
		switch run.State {
		case chela.RunOK:
			c.fired++
		case chela.RunSkipped:
			c.skipped++
		default:
			h.t.Errorf("%s: run of %s is %s", v.Name, run.Due, run.State)
		}
		if !expected[run.Key] || run.CreatedAt.Before(run.Due) {
			h.t.Errorf("%s: it fired at %s for %s", v.Name, run.CreatedAt, run.Due)
		}
		if v.Trigger.Missed == chela.MissedAll && run.Missed > 0 && len(runs) < 100 {
			h.t.Errorf("%s: %d times are counted that were to fire", v.Name, run.Missed)
		}
	}
	c.due += len(expected)
	if seen != len(expected) {
		h.t.Errorf("%s: %d times were due and %d are accounted for", v.Name, len(expected), seen)
	}
}

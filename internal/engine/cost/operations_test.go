package cost_test

import (
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/cost"
)

// TestOperations sums the spending from the beginning of a day where the owner
// lives, which is 30 days ago unless it is given, and lists limits, page by page.
func TestOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{Day: 5 * chela.USD, Session: chela.USD})
	w.cfg.Zone = time.FixedZone("there", -5*3600)
	l := cost.New(w.store, w.cfg)
	first := noon.Truncate(24 * time.Hour).Add(5 * time.Hour) // midnight of the owner
	for _, days := range []int{0, 1, 30} {
		w.at(first.AddDate(0, 0, days))
		if _, err := ask(t.Context(), l.Meter(says(1000, 0), "p/cheap"), chela.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	home := api.Local{Operations: l.Operations()}
	for _, c := range []struct {
		q    api.UsageQuery
		want string
	}{
		{api.UsageQuery{By: chela.UsageByDay}, "2026-06-03 2026-05-05 2026-05-04"},
		{api.UsageQuery{By: chela.UsageByDay, Limit: 1}, "2026-06-03 2026-05-05 2026-05-04"},
		{api.UsageQuery{By: chela.UsageByDay, Since: "29d"}, "2026-06-03 2026-05-05"},
		{api.UsageQuery{By: chela.UsageByDay, Since: "2026-05-06"}, "2026-06-03"},
		{api.UsageQuery{Since: "0d"}, "2026-06-03"},
	} {
		var days []string
		sums, err := api.All(t.Context(), home, api.UsageSums, c.q)
		for _, s := range sums {
			days = append(days, s.Day)
		}
		if got := strings.Join(days, " "); got != c.want || err != nil {
			t.Errorf("%+v: %q, %v, want %q", c.q, got, err, c.want)
		}
	}
	w.at(first.AddDate(0, 0, 31))
	if sums, err := api.All(t.Context(), home, api.UsageSums, api.UsageQuery{By: chela.UsageByDay}); err != nil || len(sums) != 2 {
		t.Errorf("a day later: %+v, %v, want 2 days", sums, err)
	}
	for session, want := range map[chela.SessionKey]int{"": 1, key: 2} {
		all, err := api.All(t.Context(), home, api.UsageLimits, api.LimitsQuery{Session: session, Limit: 1})
		if err != nil || len(all) != want || all[0].Limit != chela.LimitDay || all[0].Most != int64(5*chela.USD) {
			t.Errorf("limits of %q: %+v, %v, want %d", session, all, err, want)
		}
	}
	if _, err := api.Call(t.Context(), home, api.UsageLimits, api.LimitsQuery{After: "x"}); chela.KindOf(err) != chela.NotFound {
		t.Errorf("behind a limit that does not exist: %v", err)
	}
}

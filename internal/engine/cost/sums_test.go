package cost_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/cost"
	"chela/internal/store"
)

// TestReportsSumUp: a report adds many rows to the sums of days first, and says the same
// as before; a few rows are left until there are more.
func TestReportsSumUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cost.Limits{})
	const rows = 2500
	err := w.store.Write(t.Context(), "test", func(tx *store.Write) error {
		for i := range rows {
			err := tx.Charge(t.Context(), chela.Usage{
				ID: chela.UsageID(fmt.Sprint("use_", i)), Payer: chela.Payer{Purpose: "turn"}, Model: fmt.Sprint("p/", i%2), State: chela.UsageSettled,
				Tokens: chela.TokenUsage{Input: int64(i)}, Cost: chela.MicroUSD(i), CreatedAt: time.Date(2026, 5, 1+i%3, 12, 0, 0, 0, time.UTC),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	report := func(by chela.UsageBy) []chela.UsageSum {
		t.Helper()
		sums, err := w.Sums(t.Context(), by, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return sums
	}
	first := report(chela.UsageByDayModel)
	rest, err := store.Find(t.Context(), w.store, func(r *store.Read) (int, error) { return r.UnsummedUsage(t.Context(), time.UTC, rows) })
	if err != nil || rest != 500 {
		t.Errorf("%d rows are not in the sums of days, %v; want 500", rest, err)
	}
	if diff := cmp.Diff(first, report(chela.UsageByDayModel)); diff != "" || len(first) != 6 {
		t.Errorf("%d sums, second report (-first +second)\n%s", len(first), diff)
	}
	var calls int
	var spent chela.MicroUSD
	for _, s := range report(chela.UsageByPurpose) {
		calls, spent = calls+s.Calls, spent+s.Cost
	}
	if calls != rows || spent != rows*(rows-1)/2 {
		t.Errorf("%d calls for %d are reported", calls, spent)
	}
}

package storetest

import (
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// checkUsageDays: reports are the same whatever part of the ledger is in the sums of
// days, in each time zone, and also when rows come late or settle late.
func checkUsageDays(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f := found(t, s, "f")
	noon := time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)
	charge := func(id string, at time.Time, cost chela.MicroUSD, guessed bool) {
		u := f.newUsage(id, chela.TokenUsage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5})
		u.CreatedAt, u.Cost, u.Guessed = at, cost, guessed
		write(t, s, func(w *store.Write) error { return w.Charge(ctx, u) })
	}
	charge("first", noon.Add(-24*time.Hour), 1, false)
	charge("second", noon, 10, true)
	charge("third", noon.Add(11*time.Hour), 100, false) // the next day in India
	open := f.newUsage("open", chela.TokenUsage{})
	open.CreatedAt, open.State, open.Cost, open.Node = noon, chela.UsageReserved, 1000, "node_a"
	write(t, s, func(w *store.Write) error { return w.Reserve(ctx, open, nil, nil) })
	days := func(zone *time.Location) (costs []chela.MicroUSD) {
		t.Helper()
		for day := range 4 {
			since := time.Date(2027, 1, 14+day, 0, 0, 0, 0, zone)
			same(t, parts(t, s, chela.UsageByModel, since.Add(time.Microsecond), zone), parts(t, s, chela.UsageByModel, since, zone))
			var total [2]chela.UsageSum
			for i, by := range []chela.UsageBy{chela.UsageByDay, chela.UsageByDayModel} {
				for _, sum := range parts(t, s, by, since, zone) {
					total[i] = total[i].Plus(sum)
				}
			}
			same(t, total[0], total[1])
			costs = append(costs, total[0].Cost)
		}
		return costs
	}
	india := time.FixedZone("Asia/Kolkata", 5*3600+1800)
	for _, step := range []func(){
		func() {},
		func() { same(t, 2, sumUsage(t, s, time.UTC, 2)) },
		func() { same(t, 1, sumUsage(t, s, time.UTC, 2)) },
		func() { same(t, 2, sumUsage(t, s, india, 2)) }, // all sums are computed again
		func() { same(t, 1, sumUsage(t, s, india, 2)) },
		func() { same(t, 3, sumUsage(t, s, time.UTC, 9)) },
	} {
		step()
		same(t, []chela.MicroUSD{111, 110, 0, 0}, days(time.UTC))
		same(t, []chela.MicroUSD{111, 110, 100, 0}, days(india))
	}
	charge("late", noon.Add(-24*time.Hour), 10_000, false)
	settled := open
	settled.State, settled.Cost = chela.UsageSettled, 500
	write(t, s, func(w *store.Write) error { return w.Settle(ctx, settled) })
	for _, waiting := range []int{2, 0} {
		same(t, waiting, read(t, s, func(r *store.Read) (int, error) { return r.UnsummedUsage(ctx, time.UTC, 3) }))
		same(t, []chela.MicroUSD{10_611, 610, 0, 0}, days(time.UTC))
		same(t, waiting, sumUsage(t, s, time.UTC, 9))
	}
	same(t, 3, read(t, s, func(r *store.Read) (int, error) { return r.UnsummedUsage(ctx, india, 3) }))
	whole := parts(t, s, chela.UsageBySession, time.Time{}, time.UTC)[string(f.key)]
	same(t, chela.UsageSum{
		Calls: 5, Tokens: chela.TokenUsage{Input: 4, Output: 8, CacheRead: 12, CacheWrite: 16, Reasoning: 20}, Cost: 10_611, Guessed: 10,
	}, whole)
}

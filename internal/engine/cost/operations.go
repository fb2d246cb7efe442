package cost

import (
	"cmp"
	"context"
	"strings"

	"chela"
	"chela/internal/api"
)

// usualPeriod is the period of sums whose beginning is not given.
const usualPeriod = "30d"

// Operations binds the operations on the spending.
func (l *Ledger) Operations() []api.Bound {
	return []api.Bound{
		api.UsageSums.Do(func(ctx context.Context, _ api.Caller, q api.UsageQuery) (api.Page[chela.UsageSum], error) {
			since, err := api.ParseSince("parameter since", cmp.Or(q.Since, usualPeriod), l.cfg.Now(), l.cfg.Zone)
			if err != nil {
				return api.Page[chela.UsageSum]{}, err
			}
			sums, err := l.Sums(ctx, q.By, since)
			if err != nil {
				return api.Page[chela.UsageSum]{}, err
			}
			return api.Cut(sums, q.After, q.Limit, func(s chela.UsageSum) string {
				return strings.Join([]string{s.Day, s.Model, string(s.Session), string(s.Routine), s.Purpose}, " ")
			})
		}),
		api.UsageLimits.Do(func(ctx context.Context, _ api.Caller, q api.LimitsQuery) (api.Page[chela.Budget], error) {
			budgets, err := l.Budgets(ctx, q.Session)
			if err != nil {
				return api.Page[chela.Budget]{}, err
			}
			return api.Cut(budgets, q.After, q.Limit, func(b chela.Budget) string { return strings.TrimSuffix(string(b.Limit)+" "+b.Key, " ") })
		}),
	}
}

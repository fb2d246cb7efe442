package routine

import (
	"cmp"
	"context"
	"slices"

	"chela/internal/api"
	"chela/internal/background/routine/rule"
	"chela/internal/store"
)

// Next returns the next due times of all routines, earliest first, up to limit.
// A routine may occur several times.
func (d *Routines) Next(ctx context.Context, limit int) ([]api.Due, error) {
	// The earliest due times belong to the routines that are due first, so no
	// other routine can be among them.
	routines, err := store.Get(ctx, d.store, (*store.Read).DueRoutines, limit)
	if err != nil {
		return nil, err
	}
	var all []api.Due
	for _, v := range routines {
		s, err := rule.Times(v.Trigger, d.cfg.Zone)
		if err != nil {
			return nil, err
		}
		if len(all) == limit && v.NextAt.After(all[limit-1].At) {
			break
		}
		for at, n := v.NextAt, 0; !at.IsZero() && n < limit; at, n = rule.First(s, at), n+1 {
			all = append(all, api.Due{At: at, Routine: v.ID, Name: v.Name, Trigger: v.Trigger})
		}
		slices.SortStableFunc(all, func(x, y api.Due) int { return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Name, y.Name)) })
		all = all[:min(limit, len(all))]
	}
	return all, nil
}

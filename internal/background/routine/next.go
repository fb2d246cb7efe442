package routine

import (
	"cmp"
	"context"
	"slices"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine/rule"
	"chela/internal/background/schedule"
	"chela/internal/store"
)

// Next returns the next due times of all routines, earliest first, up to limit.
// A routine may occur several times.
func (d *Routines) Next(ctx context.Context, limit int) ([]api.Due, error) {
	// The earliest due times belong to the routines that are due first, so no
	// other routine can be among them.
	routines, err := store.Find(ctx, d.store, func(r *store.Read) ([]chela.Routine, error) { return r.DueRoutines(ctx, limit) })
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
		all = merge(all, timesFrom(s, v, limit), limit)
	}
	return all, nil
}

// timesFrom returns the next due times of a routine.
func timesFrom(s schedule.Schedule, v chela.Routine, limit int) []api.Due {
	var list []api.Due
	for at := v.NextAt; !at.IsZero() && len(list) < limit; at = rule.First(s, at) {
		list = append(list, api.Due{At: at, Routine: v.ID, Name: v.Name, Trigger: v.Trigger})
	}
	return list
}

// merge merges two sorted lists and keeps the first limit items.
func merge(a, b []api.Due, limit int) []api.Due {
	all := append(a, b...)
	slices.SortStableFunc(all, func(x, y api.Due) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Name, y.Name))
	})
	return all[:min(limit, len(all))]
}

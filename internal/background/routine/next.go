package routine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/background/routine/rule"
	"chela/internal/background/schedule"
	"chela/internal/store"
)

// A Due is a time at which a routine is due.
type Due struct {
	Routine chela.Routine `json:"routine"`
	At      time.Time     `json:"at"`
}

// Next returns the next due times of all routines, earliest first, up to limit.
// A routine may occur several times.
func (d *Desk) Next(ctx context.Context, limit int) ([]Due, error) {
	// The earliest due times belong to the routines that are due first, so no
	// other routine can be among them.
	routines, err := store.Find(ctx, d.store, func(r *store.Read) ([]chela.Routine, error) { return r.DueRoutines(ctx, limit) })
	if err != nil {
		return nil, err
	}
	var all []Due
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
func timesFrom(s schedule.Schedule, v chela.Routine, limit int) []Due {
	var list []Due
	for at := v.NextAt; !at.IsZero() && len(list) < limit; at = rule.First(s, at) {
		list = append(list, Due{v, at})
	}
	return list
}

// merge merges two sorted lists and keeps the first limit items.
func merge(a, b []Due, limit int) []Due {
	all := append(a, b...)
	slices.SortStableFunc(all, func(x, y Due) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Routine.Name, y.Routine.Name))
	})
	return all[:min(limit, len(all))]
}

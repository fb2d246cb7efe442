package routine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/routine/rule"
	"chela/internal/schedule"
	"chela/internal/store"
)

// A Due is a time at which a routine is due.
type Due struct {
	Routine chela.Routine `json:"routine"`
	At      time.Time     `json:"at"`
}

// Next returns the next times at which routines are due, up to limit, the first of
// them first. A routine may be among them several times.
func (d *Desk) Next(ctx context.Context, limit int) ([]Due, error) {
	// What is due first of all is due first of its routine, so no other can be
	// among them.
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

// timesFrom returns the next times of a routine.
func timesFrom(s schedule.Schedule, v chela.Routine, limit int) []Due {
	var list []Due
	for at := v.NextAt; !at.IsZero() && len(list) < limit; at = rule.First(s, at) {
		list = append(list, Due{v, at})
	}
	return list
}

// merge returns the first of two lists.
func merge(a, b []Due, limit int) []Due {
	all := append(a, b...)
	slices.SortStableFunc(all, func(x, y Due) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Routine.Name, y.Routine.Name))
	})
	return all[:min(limit, len(all))]
}

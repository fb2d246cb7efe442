package routine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// Operations binds the operations on routines and their runs.
func (d *Routines) Operations() []api.Bound {
	return []api.Bound{
		api.RoutinesList.Do(d.list),
		api.RoutinesCreate.Do(func(ctx context.Context, c api.Caller, q api.NewRoutine) (chela.Routine, error) {
			return d.Create(ctx, q.Routine(c), c.By)
		}),
		api.RoutinesNext.Do(d.next),
		api.RoutinesShow.Do(func(ctx context.Context, _ api.Caller, q api.RoutineRef) (chela.Routine, error) {
			return d.Routine(ctx, q.Name)
		}),
		api.RoutinesChange.Do(func(ctx context.Context, c api.Caller, q api.RoutineEdit) (chela.Routine, error) {
			v, err := d.Routine(ctx, q.Name)
			if err != nil {
				return v, err
			}
			return d.Update(ctx, v.ID, q.Change, c.By)
		}),
		api.RoutinesDelete.Do(func(ctx context.Context, c api.Caller, q api.RoutineRef) (none api.None, _ error) {
			v, err := d.Routine(ctx, q.Name)
			if err != nil {
				return none, err
			}
			return none, d.Delete(ctx, v.ID, c.By)
		}),
		api.RoutinesFire.Do(func(ctx context.Context, c api.Caller, q api.RoutineFiring) (api.Fired, error) {
			v, err := d.Routine(ctx, q.Name)
			if err != nil {
				return api.Fired{}, err
			}
			run, err := d.Fire(ctx, v.ID, Firing{Key: c.KeyOf(q.Firing.Key), Input: q.Firing.Input, By: c.By})
			return api.Fired{Run: run}, err
		}),
		api.RoutinesRuns.Do(d.runs),
		api.RunsShow.Do(d.run),
	}
}

func (d *Routines) list(ctx context.Context, _ api.Caller, q api.RoutineQuery) (api.Page[chela.Routine], error) {
	found, err := store.Find(ctx, d.store, func(r *store.Read) ([]chela.Routine, error) {
		if q.After != "" {
			if _, ok, err := r.RoutineNamed(ctx, q.After); err != nil || !ok {
				return nil, cmp.Or(err, api.NoRow(q.After))
			}
		}
		return r.Routines(ctx, q.After, api.Rows(q.Limit)+1) // one more tells whether there is a next page
	})
	return api.Paged(found, q.Limit, func(v chela.Routine) string { return v.Name }), err
}

// maxNext limits the number of due times that are listed.
const maxNext = 500

func (d *Routines) next(ctx context.Context, _ api.Caller, q api.DueQuery) (api.Page[api.Due], error) {
	limit := maxNext
	if q.After == "" {
		limit = min(api.Rows(q.Limit)+1, maxNext)
	}
	due, err := d.Next(ctx, limit)
	if err != nil {
		return api.Page[api.Due]{}, err
	}
	return api.Cut(due, q.After, q.Limit, func(d api.Due) string { return d.At.UTC().Format(time.RFC3339Nano) + "/" + string(d.Routine) })
}

// runs lists runs without their outputs, which may be large.
func (d *Routines) runs(ctx context.Context, _ api.Caller, q api.RunsQuery) (page api.Page[chela.RoutineRun], _ error) {
	if q.Before != "" {
		if _, err := d.Run(ctx, q.Before); err != nil {
			return page, api.Unknown(string(q.Before), err)
		}
	}
	v, err := d.Routine(ctx, q.Name)
	if err != nil {
		return page, err
	}
	runs, err := d.Runs(ctx, v.ID, q.Before, api.Rows(q.Limit)+1)
	if err != nil {
		return page, err
	}
	page = api.Paged(runs, q.Limit, func(r chela.RoutineRun) string { return string(r.ID) })
	for i := range page.Items {
		page.Items[i].Output = ""
	}
	return page, nil
}

// pollTime is the interval at which a run is read that a client waits for.
const pollTime = 100 * time.Millisecond

// run returns a run, at once or when it has ended. For a client that knows the
// reason for which the run waits, it also returns when two reads in a row show
// another reason.
func (d *Routines) run(ctx context.Context, _ api.Caller, q api.RunQuery) (chela.RoutineRun, error) {
	patient, cancel := context.WithTimeout(ctx, time.Duration(q.WaitMS)*time.Millisecond)
	defer cancel()
	last := ""
	if q.Waits != nil {
		last = *q.Waits
	}
	for {
		run, err := d.Run(ctx, q.ID)
		if chela.KindOf(err) == chela.NotFound {
			err = chela.E(chela.NotFound, fmt.Sprintf("there is no run %.80q", q.ID)).WithHint("GET /api/routines/{id}/runs lists those that are kept")
		}
		changed := q.Waits != nil && run.Waits != *q.Waits && run.Waits == last
		if err != nil || run.State.Ended() || changed || patient.Err() != nil {
			return run, err
		}
		last = run.Waits
		if _ = local.Sleep(patient, pollTime); ctx.Err() != nil { // at the timeout it is read once more
			return run, context.Cause(ctx)
		}
	}
}

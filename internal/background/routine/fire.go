package routine

import (
	"context"
	"time"

	"chela"
	"chela/internal/background/routine/rule"
	"chela/internal/background/work"
	"chela/internal/platform/excerpt"
	"chela/internal/store"
)

const (
	// maxInput bounds the stored input of a run, in bytes.
	maxInput = 20_000

	// offTime is the retry interval of a due routine while routines are off.
	offTime = time.Minute
)

// fire handles the work of a due routine.
func (d *Routines) fire(ctx context.Context, k chela.Work) (work.Outcome, error) {
	if d.cfg.Defaults.Off {
		return work.Outcome{Again: d.now().Add(offTime)}, nil
	}
	var next time.Time
	err := d.write(ctx, "routine.fire", func(c *change) error {
		next = time.Time{}
		v, err := store.IfFound(c.LockRoutine(ctx, chela.RoutineID(k.Key)))
		if err != nil || !v.Enabled || !v.DeletedAt.IsZero() || v.NextAt.IsZero() {
			return err
		}
		if !v.NextAt.After(c.now) {
			err = c.fireDue(ctx, &v)
		}
		next = v.NextAt
		return err
	})
	return work.Outcome{Again: next}, err
}

// fireDue adds the runs of a due routine and moves it to its next time.
func (c *change) fireDue(ctx context.Context, v *chela.Routine) error {
	s, err := rule.Times(v.Trigger, c.cfg.Zone)
	if err != nil {
		return err
	}
	full := c.cfg.Defaults.Filled(*v)
	fires, next := rule.Due(s, v.NextAt, c.now, full.Trigger.Missed)
	for _, f := range fires {
		run := chela.RoutineRun{Due: f.Due, Key: f.Due.UTC().Format(time.RFC3339Nano), Cause: v.Trigger.Kind, Missed: f.Missed, Reason: f.Skip}
		if _, err := c.add(ctx, full, run); err != nil {
			return err
		}
	}
	from := v.NextAt
	v.NextAt, v.LastAt = next, fires[len(fires)-1].Due
	return c.AdvanceRoutine(ctx, *v, from)
}

// A Firing is a request to fire a routine by hand.
type Firing struct {
	Key        string // idempotency key: the same key fires once; empty for none
	Input      string // passed to the run
	By         string // principal of the request
	Generation int    // of the run; 0 if a person fires it
}

// Fire fires a routine by hand, regardless of its guards and of whether it is
// enabled. It returns Conflict if the key was used with another input.
func (d *Routines) Fire(ctx context.Context, id chela.RoutineID, f Firing) (chela.RunID, error) {
	if f.Key == "" {
		f.Key = string(d.cfg.IDs.Request())
	}
	var run chela.RoutineRun
	err := d.write(ctx, "routine.fire", func(c *change) error {
		v, err := c.LockRoutine(ctx, id)
		if err == nil && !v.DeletedAt.IsZero() {
			err = chela.Ef(chela.NotFound, "the routine %s was deleted", v.Name)
		}
		if err != nil {
			return err
		}
		run, err = c.add(ctx, d.cfg.Defaults.Filled(v), chela.RoutineRun{
			Due: c.now, Key: "manual/" + f.Key, Cause: chela.TriggerManual, Input: f.Input, Generation: f.Generation,
		})
		if err == nil && run.Input != excerpt.Bytes(f.Input, maxInput) {
			err = chela.Ef(chela.Conflict, "the key %.60q was already used by run %s with another input", f.Key, run.ID).
				WithHint("use a new key for a new request")
		}
		return err
	})
	if err == nil {
		d.cfg.Log.Info("routine fired by hand", "routine", id, "run", run.ID, "by", f.By)
	}
	return run.ID, err
}

package routine

import (
	"context"
	"fmt"
	"time"

	"chela"
	"chela/internal/excerpt"
	"chela/internal/routine/rule"
	"chela/internal/work"
)

const (
	// maxInput is how much is kept of what makes a routine fire, in bytes.
	maxInput = 20_000

	// offTime is how long a routine waits that is due while routines are off.
	offTime = time.Minute
)

// fire lets a routine fire that is due.
func (d *Desk) fire(ctx context.Context, k chela.Work) (work.Outcome, error) {
	if d.cfg.Defaults.Off {
		return work.Outcome{Again: d.now().Add(offTime)}, nil
	}
	var next time.Time
	err := d.write(ctx, "routine.fire", func(c *change) error {
		next = time.Time{}
		v, err := c.LockRoutine(ctx, chela.RoutineID(k.Key))
		if chela.KindOf(err) == chela.NotFound || err == nil && (!v.Enabled || !v.DeletedAt.IsZero() || v.NextAt.IsZero()) {
			return nil
		}
		if err == nil && !v.NextAt.After(c.now) {
			err = c.fireDue(ctx, &v)
		}
		next = v.NextAt
		return err
	})
	return work.Outcome{Again: next}, err
}

// fireDue adds the runs of a routine that is due, and moves it on to its next
// time.
func (c *change) fireDue(ctx context.Context, v *chela.Routine) error {
	s, err := rule.Times(v.Trigger, c.desk.cfg.Zone)
	if err != nil {
		return err
	}
	full := c.desk.cfg.Defaults.Filled(*v)
	fires, next := rule.Due(s, v.NextAt, c.now, full.Trigger.Missed)
	for _, f := range fires {
		run := chela.RoutineRun{Due: f.Due, Key: keyOf(f.Due), Cause: v.Trigger.Kind, Missed: f.Missed, Reason: f.Skip}
		if _, err := c.add(ctx, full, run); err != nil {
			return err
		}
	}
	from := v.NextAt
	v.NextAt, v.LastAt = next, fires[len(fires)-1].Due
	return c.AdvanceRoutine(ctx, *v, from)
}

// keyOf is the key of the run of a due time.
func keyOf(due time.Time) string { return due.UTC().Format(time.RFC3339Nano) }

// A Firing is somebody's wish that a routine fires.
type Firing struct {
	Key   string // names the wish: the same one fires once; empty for one of its own
	Input string // handed to the run
	By    string // whose wish it is
}

// Fire lets a routine fire by somebody's wish, whatever its guards say and even if
// it is not enabled. A key that came before with another input is a Conflict.
func (d *Desk) Fire(ctx context.Context, id chela.RoutineID, f Firing) (chela.RunID, error) {
	if f.Key == "" {
		f.Key = string(d.cfg.IDs.Request())
	}
	var run chela.RoutineRun
	err := d.write(ctx, "routine.fire", func(c *change) error {
		v, err := c.LockRoutine(ctx, id)
		if err == nil && !v.DeletedAt.IsZero() {
			err = chela.E(chela.NotFound, fmt.Sprintf("the routine %s was deleted", v.Name))
		}
		if err != nil {
			return err
		}
		run, err = c.add(ctx, d.cfg.Defaults.Filled(v), chela.RoutineRun{
			Due: c.now, Key: "manual/" + f.Key, Cause: chela.TriggerManual, Input: f.Input,
		})
		if err == nil && run.Input != excerpt.Bytes(f.Input, maxInput) {
			err = chela.E(chela.Conflict, fmt.Sprintf("the key %.60q began run %s, which was told something else", f.Key, run.ID)).
				WithHint("use another key for what is new")
		}
		return err
	})
	if err == nil {
		d.cfg.Log.Info("routine fired by hand", "routine", id, "run", run.ID, "by", f.By)
	}
	return run.ID, err
}

package routine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"chela"
	"chela/internal/matcher"
	"chela/internal/store"
)

// maxCause is how long a cause is remembered at most that fires once only, and a note
// that was told.
const maxCause = 30 * day

// Hears returns what lets the routines fire that a message makes fire, to be done in
// the transaction that accepts it, or nil if there are none. What it does returns the
// events to be announced after the commit. A message that matches none costs one look
// at a few numbers.
func (d *Desk) Hears(ctx context.Context, in chela.Inbound) (func(context.Context, *store.Write, chela.InboxID) ([]chela.Event, error), error) {
	if d.cfg.Defaults.Off || in.Text == "" || in.Origin.Channel == chela.ChannelJob || in.Origin.Channel == chela.ChannelRoutine {
		return nil, nil
	}
	set, err := d.patterns(ctx)
	if err != nil {
		return nil, err
	}
	found := set.Match(in.Origin.Channel, in.Text)
	if len(found) == 0 {
		return nil, nil
	}
	return func(ctx context.Context, w *store.Write, id chela.InboxID) ([]chela.Event, error) {
		c := &change{Write: w, desk: d, now: d.now()}
		if err := c.lockAll(ctx, found); err != nil {
			return nil, err
		}
		for _, routine := range found {
			run := chela.RoutineRun{Key: "message/" + string(id), Cause: chela.TriggerEvent, Input: in.Text}
			switch _, err := c.caused(ctx, routine, run); {
			case err == nil:
			case temporary(err):
				return nil, err
			default: // what is wrong with a routine keeps no message away
				d.cfg.Log.Error("routine does not fire", "routine", routine, "error", err)
			}
		}
		return c.events, nil
	}, nil
}

// lockAll locks routines, all before any of their runs and in one order, whoever
// does that. Those that there are not any more are left out.
func (c *change) lockAll(ctx context.Context, all []chela.RoutineID) error {
	for _, id := range slices.Sorted(slices.Values(all)) {
		if _, err := c.LockRoutine(ctx, id); err != nil && chela.KindOf(err) != chela.NotFound {
			return err
		}
	}
	return nil
}

// patterns returns the compiled expressions of all routines that messages make fire,
// read anew if they are others.
func (d *Desk) patterns(ctx context.Context) (*matcher.Set, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var hearing []chela.Routine
	var stamp store.RoutineStamp
	err := d.store.Read(ctx, func(r *store.Read) (err error) {
		if stamp, err = r.HearingStamp(ctx); err != nil || d.matches != nil && stamp == d.heard {
			return err
		}
		hearing, err = r.HearingRoutines(ctx, chela.TriggerEvent)
		return err
	})
	if err != nil || d.matches != nil && stamp == d.heard {
		return d.matches, err
	}
	triggers := make([]matcher.Trigger, len(hearing))
	for i, v := range hearing {
		triggers[i] = matcher.Trigger{Routine: v.ID, Channel: v.Trigger.Channel, Pattern: v.Trigger.Pattern}
	}
	set, err := matcher.New(triggers)
	if err != nil {
		d.cfg.Log.Error("routines left out that listen for what cannot be", "error", err)
	}
	d.matches, d.heard = set, stamp
	return set, nil
}

// caused lets a routine fire that something other than a clock makes fire, if it may,
// and returns the run of that key, or a zero one if the routine does not fire any
// more.
func (c *change) caused(ctx context.Context, id chela.RoutineID, run chela.RoutineRun) (chela.RoutineRun, error) {
	v, err := c.LockRoutine(ctx, id)
	if err != nil || !v.Enabled || !v.DeletedAt.IsZero() {
		return chela.RoutineRun{}, err
	}
	known, ok, err := c.RunByKey(ctx, v.ID, run.Key)
	if err != nil || ok {
		return known, err
	}
	v = c.desk.cfg.Defaults.Filled(v)
	run.Due = c.now
	if v.Guards.Dedup > 0 {
		sum := sha256.Sum256([]byte(run.Input))
		fresh, err := c.SeeCause(ctx, store.RoutineCause{
			Routine: v.ID, Key: "input/" + hex.EncodeToString(sum[:]), At: c.now, Within: v.Guards.Dedup,
		})
		if err != nil {
			return run, err
		}
		if !fresh {
			run.Reason = "the same made it fire less than " + v.Guards.Dedup.String() + " ago"
		}
	}
	return c.add(ctx, v, run)
}

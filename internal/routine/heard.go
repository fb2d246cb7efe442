package routine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"chela"
	"chela/internal/matcher"
	"chela/internal/store"
)

// maxCause is how long a cause is remembered at most that fires once only.
const maxCause = 30 * day

// Heard lets the routines fire that a message makes fire. The message has been
// accepted as id; being told of it again does nothing. A message that matches none
// costs one look at a few numbers.
func (d *Desk) Heard(ctx context.Context, in chela.Inbound, id chela.InboxID) error {
	if d.cfg.Defaults.Off || id == "" || in.Text == "" || in.Origin.Channel == chela.ChannelJob || in.Origin.Channel == chela.ChannelRoutine {
		return nil
	}
	set, err := d.patterns(ctx)
	if err != nil {
		return err
	}
	for _, routine := range set.Match(in.Origin.Channel, in.Text) {
		run := chela.RoutineRun{Key: "message/" + string(id), Cause: chela.TriggerEvent, Input: in.Text}
		err = errors.Join(err, d.write(ctx, "routine.fire", func(c *change) error {
			_, err := c.caused(ctx, routine, run)
			return err
		}))
	}
	return err
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

package routine

import (
	"context"
	"time"

	"chela"
	"chela/internal/routine/rule"
	"chela/internal/store"
	"chela/internal/work"
)

const (
	tendTime  = time.Minute
	pageRuns  = 500
	missTime  = time.Minute // after which a run that began must have left something
	maxForget = 1000        // causes, and notes, that are forgotten at once
)

// tend ends runs that nothing will end any more, and forgets causes that cannot come
// again and notes that were told.
func (d *Desk) tend(ctx context.Context, _ chela.Work) (work.Outcome, error) {
	now := d.now()
	on, err := store.Find(ctx, d.store, func(r *store.Read) ([]chela.RoutineRun, error) { return r.RunsOn(ctx, now.Add(-missTime), pageRuns) })
	if err != nil {
		return work.Outcome{}, err
	}
	for _, run := range on {
		if err := d.lookAfter(ctx, run); err != nil {
			return work.Outcome{}, err
		}
	}
	// Nobody has to wake what waits here as long as nothing is lost; this finds what was.
	if err := d.write(ctx, "routine.tend", func(c *change) error { return c.wakeNext(ctx) }); err != nil {
		return work.Outcome{}, err
	}
	return work.Outcome{Again: now.Add(tendTime)}, d.forget(ctx, now.Add(-maxCause))
}

// forget forgets what is from before a time and cannot matter any more.
func (d *Desk) forget(ctx context.Context, before time.Time) error {
	for most := int64(maxForget); most >= maxForget; {
		err := d.write(ctx, "routine.forget", func(c *change) error {
			causes, err := c.ForgetCauses(ctx, before)
			if err != nil {
				return err
			}
			notes, err := c.ForgetNotes(ctx, before)
			most = max(causes, notes)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lookAfter ends a run whose message had to make room for others, and looks at the
// turn of one whose message became a turn.
func (d *Desk) lookAfter(ctx context.Context, run chela.RoutineRun) error {
	var m chela.Waiting
	var t chela.Turn
	found, err := store.Find(ctx, d.store, func(r *store.Read) (found bool, err error) {
		if m, found, err = r.Delivered(ctx, chela.ChannelRoutine, string(run.Routine), string(run.ID)); err != nil || !found || m.Turn == "" {
			return found, err
		}
		t, err = r.Turn(ctx, m.Turn)
		return found, err
	})
	switch {
	case err != nil || !found:
		return err
	case m.State == chela.InboxDropped:
		lost := rule.Ending{State: chela.RunFailed, Reason: "its message had to make room for others"}
		return d.write(ctx, "routine.end", func(c *change) error { return c.end(ctx, run.ID, result{Ending: lost}) })
	case m.Turn != "":
		return d.Follow(ctx, t)
	default:
		return nil
	}
}

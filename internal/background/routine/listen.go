package routine

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/background/routine/rule"
	"chela/internal/background/work"
	"chela/internal/store"
)

const (
	listenTime = time.Second      // poll interval of the event log
	deafTime   = 10 * time.Second // poll interval while no routine listens
	pageEvents = 256              // transactions per page
)

// heard is the read position in the event log.
type heard struct {
	After chela.Cursor `json:"after"`
}

// listen fires routines for system events. The transaction that adds the runs
// of an event also advances the read position.
func (d *Routines) listen(ctx context.Context, k chela.Work) (out work.Outcome, _ error) {
	at, err := work.ArgsOf[heard](k)
	if err != nil {
		return out, err
	}
	// The events come before the routines: a routine that is created between the two
	// reads hears what happens after its creation.
	last, err := d.store.LastEvent(ctx)
	if err != nil {
		return out, err
	}
	events, err := d.store.Events(ctx, at.After, "", pageEvents)
	hearing, failed := store.Get(ctx, d.store, (*store.Read).HearingRoutines, chela.TriggerSystem)
	if failed != nil {
		return out, failed
	}
	if len(hearing) == 0 || d.cfg.Defaults.Off {
		return out, d.readUntil(ctx, last, deafTime, nil)
	}
	if chela.KindOf(err) == chela.NotFound {
		d.cfg.Log.Warn("events missed by routines", "after", at.After)
		return out, d.readUntil(ctx, last, 0, nil)
	}
	if err != nil {
		return out, err
	}
	if len(events) == 0 {
		return work.Outcome{Again: d.now().Add(listenTime)}, nil
	}
	var again time.Duration
	if len(events) < pageEvents {
		again = listenTime
	}
	return out, d.readUntil(ctx, events[len(events)-1].Cursor, again, func(c *change) error {
		return c.announced(ctx, hearing, events)
	})
}

// readUntil stores the read position together with the writes of fn, and
// schedules the next read.
func (d *Routines) readUntil(ctx context.Context, last chela.Cursor, again time.Duration, fn func(c *change) error) error {
	return d.write(ctx, "routine.listen", func(c *change) error {
		if fn != nil {
			if err := fn(c); err != nil {
				return err
			}
		}
		return d.cfg.Work.Set(ctx, c.Write, chela.Work{Kind: workListen, Key: workListen, Args: work.Args(heard{last}), DueAt: c.now.Add(again)})
	})
}

// announced adds the runs of routines that match events.
func (c *change) announced(ctx context.Context, hearing []chela.Routine, events []chela.Event) error {
	var hear []chela.RoutineID
	for _, v := range hearing {
		if slices.ContainsFunc(events, func(e chela.Event) bool { return rule.Hears(v, e) }) {
			hear = append(hear, v.ID)
		}
	}
	if err := c.lockAll(ctx, hear); err != nil {
		return err
	}
	for _, e := range events {
		generation, own, err := c.causeOf(ctx, e)
		if err != nil {
			return err
		}
		for _, v := range hearing {
			if own || e.At.Before(v.UpdatedAt) || !rule.Hears(v, e) {
				continue
			}
			run := chela.RoutineRun{
				Key: "event/" + string(e.Cursor), Cause: chela.TriggerSystem, Input: string(work.Args(e)), Generation: generation + 1,
			}
			if _, err := c.caused(ctx, v.ID, run); err != nil {
				return err
			}
		}
	}
	return nil
}

package routine

import (
	"cmp"
	"context"
	"errors"

	"chela"
	"chela/internal/notice"
	"chela/internal/routine/rule"
	"chela/internal/store"
	"chela/internal/work"
)

// errNoPlace says that as many runs are running as may, or that others of the routine
// were due before.
var errNoPlace = errors.New("no place")

// begin lets a run begin that waits, if there is a place for it, and does what the
// routine says. A run that began and whose process died does it again: what it does
// is named by the run.
func (d *Desk) begin(ctx context.Context, k chela.Work) (work.Outcome, error) {
	v, run, err := d.take(ctx, chela.RunID(k.Key))
	switch {
	case errors.Is(err, errNoPlace): // whoever gives one back, or begins before it, wakes it
		return work.Outcome{}, nil
	case err != nil || run.State != chela.RunRunning:
		return work.Outcome{}, err
	}
	err = d.act(ctx, v, run)
	if err != nil && !temporary(err) {
		failed := rule.Ending{State: chela.RunFailed, Reason: chela.MessageOf(err)}
		err = d.write(ctx, "routine.end", func(c *change) error { return c.end(ctx, run.ID, result{Ending: failed}) })
	}
	return work.Outcome{}, err
}

// temporary reports whether what failed may work in a while.
func temporary(err error) bool {
	kind := chela.KindOf(err)
	return kind == chela.Unavailable || kind == chela.Exhausted || kind == chela.Internal || kind == ""
}

// take gives a pending run a place. A run that needs no turn has ended afterwards.
func (d *Desk) take(ctx context.Context, id chela.RunID) (v chela.Routine, run chela.RoutineRun, err error) {
	err = d.write(ctx, "routine.begin", func(c *change) error {
		if run, err = c.RoutineRun(ctx, id); err != nil || run.State.Ended() {
			return err
		}
		if v, err = c.LockRoutine(ctx, run.Routine); err != nil {
			return err
		}
		if run, err = c.RoutineRun(ctx, id); err != nil || run.State.Ended() {
			return err // of which nobody changes anything now
		}
		v = d.cfg.Defaults.Filled(v)
		switch {
		case run.State == chela.RunRunning:
			return nil
		case !v.DeletedAt.IsZero():
			return c.endRun(ctx, v, &run, result{Ending: rule.Ending{State: chela.RunSkipped, Reason: "the routine was deleted"}})
		}
		if next, _, err := c.NextRun(ctx, v.ID); err != nil || next.ID != run.ID {
			return cmp.Or(err, errNoPlace)
		}
		if v.Action.Kind == chela.ActionNotify || v.Action.Kind == chela.ActionEvent {
			return c.say(ctx, v, &run)
		}
		return c.start(ctx, v, &run)
	})
	return v, run, err
}

// say begins and ends a run that says something and does nothing else.
func (c *change) say(ctx context.Context, v chela.Routine, run *chela.RoutineRun) error {
	run.State, run.StartedAt = chela.RunRunning, c.now
	if err := c.MoveRun(ctx, *run, chela.RunPending); err != nil {
		return err
	}
	said := result{Ending: rule.Ending{State: chela.RunOK}}
	if v.Action.Kind == chela.ActionNotify {
		said.Tell = rule.Notice(v, *run)
	} else if err := c.note(ctx, v, *run, v.Action.Text+rule.Given(v, *run)); err != nil {
		return err
	}
	return c.endRun(ctx, v, run, said)
}

// start moves a pending run on, if there is a place for it.
func (c *change) start(ctx context.Context, v chela.Routine, run *chela.RoutineRun) error {
	if err := c.LockRuns(ctx); err != nil {
		return err
	}
	places, err := places(ctx, &c.Read)
	if err != nil {
		return err
	}
	if !c.desk.cfg.Defaults.MayBegin(v, places) {
		return errNoPlace
	}
	run.State, run.StartedAt = chela.RunRunning, c.now
	if v.Action.Main {
		run.Waits = "its turn in the main session, where one turn runs at a time"
	}
	if v.Action.Kind != chela.ActionJob {
		run.Session = rule.SessionOf(v)
		if run.Thread, err = c.thread(ctx, v, run.Session); err != nil {
			return err
		}
	}
	if err := c.MoveRun(ctx, *run, chela.RunPending); err != nil {
		return err
	}
	return c.wakeNext(ctx)
}

// places counts the runs that are running.
func places(ctx context.Context, r *store.Read) (p rule.Places, err error) {
	p.Running, p.Taken, err = r.RunningRuns(ctx)
	return p, err
}

// thread returns the thread of a new run: a fresh one, or in the main session the
// one that is current when the message arrives there.
func (c *change) thread(ctx context.Context, v chela.Routine, key chela.SessionKey) (chela.ThreadID, error) {
	if v.Action.Main {
		return "", nil
	}
	t := chela.Thread{ID: c.desk.cfg.IDs.Thread(), Session: key, Title: v.Name, State: chela.ThreadIdle, CreatedAt: c.now, UpdatedAt: c.now}
	s, err := c.Session(ctx, key)
	switch {
	case chela.KindOf(err) == chela.NotFound:
		s = chela.Session{Key: key, Agent: v.Agent, Thread: t.ID, CreatedAt: c.now, UpdatedAt: c.now}
		s.Settings.Label = v.Name
		err = c.CreateSession(ctx, s, chela.ClassCron)
	case err == nil:
		s.SwitchTo(t.ID)
		s.Settings.Label, s.UpdatedAt = v.Name, c.now
		err = c.SaveSession(ctx, s)
	}
	if err != nil {
		return "", err
	}
	return t.ID, c.CreateThread(ctx, t)
}

// act does what a run is for, outside of transactions of the desk.
func (d *Desk) act(ctx context.Context, v chela.Routine, run chela.RoutineRun) error {
	if v.Action.Kind == chela.ActionJob {
		id, err := d.cfg.Job(ctx, v, run, v.Action.Text+rule.Given(v, run))
		if err != nil || run.Job == id {
			return err
		}
		return d.write(ctx, "routine.job", func(c *change) error {
			if _, err := c.LockRoutine(ctx, v.ID); err != nil { // as whoever moves the job does then
				return err
			}
			j, err := c.Job(ctx, id)
			if chela.KindOf(err) == chela.NotFound {
				j, err = chela.Job{ID: id}, nil // it waits for nothing
			}
			if err != nil {
				return err
			}
			return c.waits(ctx, run.ID, rule.Waits{Job: &j})
		})
	}
	in, err := store.Find(ctx, d.store, func(r *store.Read) (chela.Inbound, error) { return message(ctx, r, v, run) })
	if err != nil {
		return err
	}
	return d.cfg.Submit(ctx, in)
}

// message is the message with which the turn of a run begins.
func message(ctx context.Context, r *store.Read, v chela.Routine, run chela.RoutineRun) (chela.Inbound, error) {
	in := chela.Inbound{
		Session: run.Session, Thread: run.Thread, Agent: v.Agent, MessageID: string(run.ID), Model: v.Action.Model,
		Origin: chela.Origin{
			Channel: chela.ChannelRoutine, Account: string(v.ID), To: string(run.ID), Owner: rule.Trusted(v, run), ReplyBy: chela.ReplyByFollow,
		},
		Overrides: chela.Overrides{Thinking: v.Action.Thinking, Steps: v.Action.Steps, Time: v.Action.Timeout},
		Queue:     chela.QueueSettings{Mode: chela.QueueFollowup, DebounceMS: -1},
	}
	if v.Action.Kind == chela.ActionLight {
		in.Overrides.Steps, in.Overrides.Answer = 1, v.Action.MaxTokens
	}
	shown, err := documents(ctx, r, v)
	if err != nil {
		return in, err
	}
	in.Text = v.Action.Text + shown + rule.Given(v, run)
	if v.Action.Main { // where notes are told anyway
		in.Text = labelled(v, in.Text)
		return in, err
	}
	fresh, err := news(ctx, r, v, run.ID)
	in.Text += newsText(fresh)
	return in, err
}

// labelled is text as the main session sees it, where people speak too.
func labelled(v chela.Routine, text string) string { return "[routine " + v.Name + "] " + text }

// wake says in the main session what came of a run, in a turn of its own. Its answer
// goes where the routine was made, or else where the session was last spoken to.
func (d *Desk) wake(ctx context.Context, k chela.Work) (work.Outcome, error) {
	text, err := argsText(k.Args)
	if err != nil {
		return work.Outcome{}, err
	}
	in, err := store.Find(ctx, d.store, func(r *store.Read) (in chela.Inbound, err error) {
		run, err := r.RoutineRun(ctx, chela.RunID(k.Key))
		if err != nil {
			return in, err
		}
		v, err := r.Routine(ctx, run.Routine)
		if err != nil {
			return in, err
		}
		in = chela.Inbound{Session: chela.MainKey(v.Agent), Agent: v.Agent, Text: labelled(v, text), MessageID: "post/" + k.Key}
		in.Origin, err = notice.Place(ctx, r, v)
		in.Origin.Owner = rule.Trusted(v, run)
		return in, err
	})
	if err != nil {
		return work.Outcome{}, err
	}
	return work.Outcome{}, d.cfg.Submit(ctx, in)
}

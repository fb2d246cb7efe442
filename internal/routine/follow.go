package routine

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/notice"
	"chela/internal/routine/rule"
	"chela/internal/store"
)

// maxChosen is how many runs that wait are looked at when a place is free.
const maxChosen = 1000

// A result is what a run came to.
type result struct {
	rule.Ending
	turn *chela.Turn
	job  chela.JobID
}

// Follow looks at a turn that belongs to a run of a routine: once it has ended, so
// has the run, and while it waits for a person, the run has no place. It may be called at
// any time and any number of times.
func (d *Desk) Follow(ctx context.Context, t chela.Turn) error {
	if !t.Origin.Followed() || t.Origin.Channel != chela.ChannelRoutine {
		return nil
	}
	if !t.State.Ended() {
		return d.write(ctx, "routine.follow", func(c *change) error { return c.followLive(ctx, t) })
	}
	answer, err := store.Find(ctx, d.store, func(r *store.Read) (string, error) {
		said, _, err := r.Answer(ctx, t)
		return said.Body.Text, err
	})
	if err != nil {
		return err
	}
	res := result{Ending: rule.Ending{State: chela.RunOK, Output: answer}, turn: &t}
	if t.State != chela.TurnCompleted {
		res.State, res.Reason = chela.RunFailed, why(t)
	}
	return d.write(ctx, "routine.end", func(c *change) error { return c.end(ctx, chela.RunID(t.Origin.To), res) })
}

// followLive stores what the run of a turn that goes on waits for, if it does.
func (c *change) followLive(ctx context.Context, t chela.Turn) error {
	if _, err := c.LockRoutine(ctx, chela.RoutineID(t.Origin.Account)); err != nil {
		return err
	}
	t, err := c.Turn(ctx, t.ID) // as it is now that no other look at it is stored
	if err != nil || t.State.Ended() {
		return err
	}
	asked, err := c.TurnApprovals(ctx, t.ID)
	if err != nil {
		return err
	}
	return c.waits(ctx, chela.RunID(t.Origin.To), rule.Waits{Turn: &t, Approvals: asked})
}

// waits stores what a run waits for whose routine is locked. One that waits gives its
// place back; one that goes on takes it even if that is one too many, as what it has
// begun must not wait for others that may wait for it.
func (c *change) waits(ctx context.Context, id chela.RunID, w rule.Waits) error {
	run, err := c.RoutineRun(ctx, id)
	if chela.KindOf(err) == chela.NotFound {
		return nil
	}
	if err != nil || run.State != chela.RunRunning {
		return err
	}
	was := run
	run.Waits = w.Text()
	if w.Turn != nil {
		run.Turn = w.Turn.ID
	}
	if w.Job != nil {
		run.Job = w.Job.ID
	}
	if run == was {
		return nil
	}
	if err := c.MoveRun(ctx, run, chela.RunRunning); err != nil || run.Waits == "" || was.Waits != "" {
		return err
	}
	return c.wakeNext(ctx)
}

// JobMoved takes part in the transaction in which a job moves: if a run of a routine
// made it, that waits as long as the job does.
func (d *Desk) JobMoved(ctx context.Context, w *store.Write, j chela.Job) error {
	if j.Run == "" || !j.State.Live() {
		return nil
	}
	run, err := w.RoutineRun(ctx, j.Run)
	if chela.KindOf(err) == chela.NotFound {
		return nil
	}
	if err != nil || run.State != chela.RunRunning {
		return err
	}
	if _, err := w.LockRoutine(ctx, run.Routine); err != nil {
		return err
	}
	var asked []chela.Approval
	if j.State == chela.JobAwaiting && j.Turn != "" {
		if asked, err = w.TurnApprovals(ctx, j.Turn); err != nil {
			return err
		}
	}
	c := &change{Write: w, desk: d, now: d.now()}
	return c.waits(ctx, run.ID, rule.Waits{Job: &j, Approvals: asked})
}

// why says why a turn did not complete.
func why(t chela.Turn) string {
	if t.Failure != nil && t.Failure.Message != "" {
		return t.Failure.Message
	}
	return "its turn was " + string(t.State)
}

// JobEnded takes part in the transaction in which a job ends: if a run of a routine
// made it, that has ended too.
func (d *Desk) JobEnded(ctx context.Context, w *store.Write, j chela.Job) error {
	if j.Run == "" || j.State.Live() {
		return nil
	}
	res := result{Ending: rule.Ending{State: chela.RunOK, Output: j.Result}, job: j.ID}
	if j.State == chela.JobFailed || j.State == chela.JobInterrupted || j.State == chela.JobCancelled {
		res.State, res.Reason = chela.RunFailed, fmt.Sprintf("its job was %s", j.State)
		if j.Reason != "" {
			res.Reason = j.Reason
		}
	}
	c := &change{Write: w, desk: d, now: d.now()}
	return c.end(ctx, j.Run, res)
}

// end ends a run, unless it has ended or is forgotten.
func (c *change) end(ctx context.Context, id chela.RunID, res result) error {
	run, err := c.RoutineRun(ctx, id)
	if chela.KindOf(err) == chela.NotFound {
		return nil
	}
	if err != nil || run.State.Ended() {
		return err
	}
	v, err := c.LockRoutine(ctx, run.Routine)
	if err != nil {
		return err
	}
	if run, err = c.RoutineRun(ctx, id); err != nil || run.State.Ended() {
		return err // of which nobody changes anything now
	}
	return c.endRun(ctx, c.desk.cfg.Defaults.Filled(v), &run, res)
}

// endRun stores the ending of a run and what comes of it.
func (c *change) endRun(ctx context.Context, v chela.Routine, run *chela.RoutineRun, res result) error {
	last, err := c.lastTold(ctx, v)
	if err != nil {
		return err
	}
	res.At = c.now
	from, out := run.State, rule.Judge(v, *run, res.Ending, last)
	if v.Notify.Target == chela.TargetNone {
		out.Tell = ""
	}
	run.Waits = ""
	run.State, run.Reason, run.Output, run.FinishedAt, run.Notified = res.State, res.Reason, res.Output, c.now, out.Tell
	if res.turn != nil {
		run.Turn, run.Thread = res.turn.ID, res.turn.Thread
	}
	if res.job != "" {
		run.Job = res.job
	}
	if err := c.MoveRun(ctx, *run, from); err != nil {
		return err
	}
	if err := c.judged(ctx, v, out.Routine); err != nil {
		return err
	}
	if err := c.announce(ctx, chela.Event{
		Kind: chela.EventRoutineFinished, Session: rule.SessionOf(v), Turn: run.Turn, Thread: run.Thread, Routine: v.ID, Run: run.ID, Text: string(run.State),
	}); err != nil {
		return err
	}
	if err := c.tell(ctx, v, *run, out); err != nil {
		return err
	}
	if err := c.wakeNext(ctx); err != nil {
		return err
	}
	_, err = c.PruneRuns(ctx, v.ID, c.desk.cfg.Defaults.KeepRuns, c.now.Add(-day-v.Notify.Repeat))
	return err
}

// lastTold returns what people were told last of a routine that does not repeat
// itself.
func (c *change) lastTold(ctx context.Context, v chela.Routine) (rule.Told, error) {
	if v.Notify.Repeat <= 0 {
		return rule.Told{}, nil
	}
	run, _, err := c.LastNotified(ctx, v.ID, c.now.Add(-v.Notify.Repeat-day))
	return rule.Told{Text: run.Notified, At: run.FinishedAt}, err
}

// judged stores how a routine fares.
func (c *change) judged(ctx context.Context, before, after chela.Routine) error {
	if after.Failures == before.Failures && after.Enabled == before.Enabled && after.DeletedAt.Equal(before.DeletedAt) {
		return nil
	}
	if after.NextAt.IsZero() && !before.NextAt.IsZero() {
		if err := c.await(ctx, after); err != nil {
			return err
		}
	}
	return c.JudgeRoutine(ctx, after)
}

// tell tells people and the main session what a run came to.
func (c *change) tell(ctx context.Context, v chela.Routine, run chela.RoutineRun, out rule.Verdict) error {
	if out.Tell != "" {
		events, err := c.desk.cfg.Notices.Tell(ctx, c.Write, notice.Notice{
			Key: "run/" + string(run.ID), Agent: v.Agent, Target: v.Notify.Target, Channel: v.Notify.Channel, To: v.Notify.To,
			Origin: v.Origin, Session: v.Session, From: v.Name, Text: out.Tell, Routine: v.ID, Run: run.ID,
		})
		if err != nil {
			return err
		}
		c.events = append(c.events, events...)
	}
	if out.Post == "" {
		return nil
	}
	return c.note(ctx, v, run, out.Post)
}

package job

import (
	"context"

	"chela"
)

// Pause holds a job, with its parts and subagents, until Resume: its turn is stopped,
// its output so far stays, and its slot is released. Pausing a paused job does nothing.
// It returns Conflict if the job has ended.
func (d *Jobs) Pause(ctx context.Context, id chela.JobID, by string) (chela.Job, error) {
	return d.change(ctx, "job.pause", id, func(a *act, j *chela.Job) error {
		switch {
		case j.State == chela.JobPaused:
			return nil
		case !j.State.CanMove(chela.JobPaused):
			return notNow(*j)
		}
		return a.pause(ctx, j, chela.JobEvent{By: by, Text: "paused by " + by})
	})
}

// pause holds a job. Its turns are stopped, and the jobs that it requested are paused,
// when it is next evaluated.
func (a *act) pause(ctx context.Context, j *chela.Job, e chela.JobEvent) error {
	had := hasPlace(*j)
	if j.State != chela.JobPending {
		arrived, _, err := a.w.JobMessages(ctx, j.ID, messages(j.ID, j.Attempt))
		if err != nil {
			return err
		}
		if arrived == 0 {
			j.Thread = "" // its text is not in there yet: the next attempt sends it
		}
	}
	j.Waits, j.Reason = 0, e.Text
	if err := a.move(ctx, j, chela.JobPaused, e); err != nil {
		return err
	}
	if had {
		if err := a.dispatch(ctx, j.Class(), false); err != nil {
			return err
		}
	}
	return a.look(ctx, j.ID)
}

// hold pauses a job whose requester was paused, unless it has ended.
func (a *act) hold(ctx context.Context, id chela.JobID) error {
	j, err := a.w.LockJob(ctx, id)
	if err != nil || !j.State.CanMove(chela.JobPaused) {
		return err
	}
	return a.pause(ctx, &j, chela.JobEvent{By: By, Text: "the job that requested it was paused"})
}

// Resume lets a paused job continue in its thread, with all paused jobs that it
// requested. It waits for a slot as a new job does. It returns Conflict if the job is
// not paused.
func (d *Jobs) Resume(ctx context.Context, id chela.JobID, by string) (chela.Job, error) {
	return d.change(ctx, "job.resume", id, func(a *act, j *chela.Job) error {
		if j.State != chela.JobPaused {
			return notNow(*j)
		}
		return a.resume(ctx, j, by)
	})
}

func (a *act) resume(ctx context.Context, j *chela.Job, by string) error {
	asked, err := a.w.JobsAskedBy(ctx, j.Session)
	if err != nil {
		return err
	}
	for _, other := range asked {
		if other.State != chela.JobPaused {
			continue
		}
		if other, err = a.w.LockJob(ctx, other.ID); err == nil && other.State == chela.JobPaused {
			err = a.resume(ctx, &other, by)
		}
		if err != nil {
			return err
		}
	}
	j.Waits = Situation{Asked: asked}.liveParts()
	return a.again(ctx, j, by)
}

// halt decides about a paused job: its turns are stopped, and the jobs that it
// requested are paused too.
func (s Situation) halt(d *Decision) {
	s.stop(d)
	for _, j := range s.Asked {
		if j.State.CanMove(chela.JobPaused) {
			d.Hold = append(d.Hold, j.ID)
		}
	}
}

package job

import (
	"context"

	"chela"
)

// Stuck notes in the story of a job that nothing came of its turn for too long, and
// that it recovers; why says so to people. Whoever mended the turn has the job
// looked at. A job that is not under way, or does not exist, is left alone.
func (d *Desk) Stuck(ctx context.Context, id chela.JobID, why string) error {
	_, err := d.change(ctx, "job.stuck", id, func(a *act, j *chela.Job) error {
		if j.State != chela.JobInProgress && j.State != chela.JobAwaiting {
			return nil
		}
		j.Repairs++
		j.Reason = why
		if err := a.move(ctx, j, chela.JobStuck, chela.JobEvent{By: By, Text: why}); err != nil {
			return err
		}
		if err := a.note(ctx, j, chela.JobEvent{Kind: chela.JobRepaired, By: By, Text: why}); err != nil {
			return err
		}
		return a.move(ctx, j, chela.JobRecovering, chela.JobEvent{By: By})
	})
	if chela.KindOf(err) == chela.NotFound {
		return nil
	}
	return err
}

// maxReviewed is how many jobs one review looks at.
const maxReviewed = 1000

// Review looks how far all jobs are that are under way, and gives free places away.
// Nothing depends on it as long as nothing is lost; it finds what was.
func (d *Desk) Review(ctx context.Context) error {
	under, err := d.Jobs(ctx, Filter{
		States: []chela.JobState{chela.JobInProgress, chela.JobAwaiting, chela.JobStuck, chela.JobRecovering}, Limit: maxReviewed,
	})
	if err != nil {
		return err
	}
	for _, j := range under {
		if err := d.Look(ctx, j.ID); err != nil {
			return err
		}
	}
	for _, class := range []chela.Class{chela.ClassJob, chela.ClassSubagent} {
		if err := d.giveAway(ctx, class); err != nil {
			return err
		}
	}
	return nil
}

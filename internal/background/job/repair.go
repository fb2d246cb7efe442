package job

import (
	"context"
	"strconv"
	"strings"

	"chela"
)

// Stuck records in the story of a job that its turn made no progress for too
// long and is being retried; why is shown to people. The caller has the job
// evaluated after the recovery. Each run of a turn is recorded once. A job that
// is not in progress, or does not exist, is ignored.
func (d *Jobs) Stuck(ctx context.Context, t chela.Turn, why string) error {
	_, err := d.change(ctx, "job.stuck", chela.JobID(t.Origin.Account), func(a *act, j *chela.Job) error {
		if j.State != chela.JobInProgress && j.State != chela.JobAwaiting {
			return nil
		}
		t.Crashes++ // counts this run, which is about to be cut off
		return a.revive(ctx, j, t, why)
	})
	if chela.KindOf(err) == chela.NotFound {
		return nil
	}
	return err
}

// revive moves a job in progress to recovering because the last counted run of
// its turn got stuck or broke off, unless the story already records that.
func (a *act) revive(ctx context.Context, j *chela.Job, t chela.Turn, why string) error {
	key := repairKey(t.ID) + strconv.Itoa(t.Crashes)
	if _, known, err := a.w.JobEventByKey(ctx, j.ID, key); err != nil || known {
		return err
	}
	j.Repairs++
	j.Reason, j.Turn = why, t.ID
	if err := a.move(ctx, j, chela.JobStuck, chela.JobEvent{By: By, Text: why}); err != nil {
		return err
	}
	if err := a.note(ctx, j, chela.JobEvent{Kind: chela.JobRepaired, By: By, Key: key, Text: why}); err != nil {
		return err
	}
	return a.move(ctx, j, chela.JobRecovering, chela.JobEvent{By: By})
}

// mend handles a job whose run died or broke; the lane has counted the failure
// and retries the turn. It returns whether to stop the turn instead.
func (a *act) mend(ctx context.Context, j *chela.Job, t chela.Turn) (stop bool, err error) {
	why, stop, err := a.cfg.Broke(ctx, a.w, t)
	if err != nil {
		return false, err
	}
	if err := a.revive(ctx, j, t, why); err != nil {
		return false, err
	}
	return stop && !t.State.Ended(), a.look(ctx, j.ID)
}

// repairKey is the key prefix of the events that record repairs of a turn; the
// number of the run follows.
func repairKey(t chela.TurnID) string { return "repair/" + string(t) + "/" }

// repairs returns the last run of a turn that the story records as stuck or
// broken, and the reason; 0 for none.
func repairs(events []chela.JobEvent, t chela.TurnID) (n int, why string) {
	for _, e := range events {
		number, ok := strings.CutPrefix(e.Key, repairKey(t))
		if run, err := strconv.Atoi(number); ok && err == nil && run > n {
			n, why = run, e.Text
		}
	}
	return n, why
}

// maxReviewed bounds the jobs of one review.
const maxReviewed = 1000

// Review re-evaluates all jobs in progress and assigns free slots. It is a
// safety net: it finds jobs whose enqueued work was lost.
func (d *Jobs) Review(ctx context.Context) error {
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

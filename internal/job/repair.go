package job

import (
	"context"
	"strconv"
	"strings"

	"chela"
)

// Stuck notes in the story of a job that nothing came of a turn of it for too long,
// and that it recovers; why says so to people. Whoever mended the turn has the job
// looked at. A run of a turn is noted once. A job that is not under way, or does not
// exist, is left alone.
func (d *Desk) Stuck(ctx context.Context, t chela.Turn, why string) error {
	_, err := d.change(ctx, "job.stuck", chela.JobID(t.Origin.Account), func(a *act, j *chela.Job) error {
		if j.State != chela.JobInProgress && j.State != chela.JobAwaiting {
			return nil
		}
		t.Crashes++ // this one too, once it is cut off
		return a.revive(ctx, j, t, why)
	})
	if chela.KindOf(err) == chela.NotFound {
		return nil
	}
	return err
}

// revive moves a job that is under way to recovering, since a run of a turn of it got
// stuck or broke off, the last that the turn counts; unless its story tells of that.
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

// mend has a job recover of which a run died or broke, which its lane has counted and
// mends. It returns whether the turn is to be stopped instead.
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

// repairKey is what the keys of the events begin with that a turn was repaired: the
// number of the run follows.
func repairKey(t chela.TurnID) string { return "repair/" + string(t) + "/" }

// repairs returns which run of a turn was the last of which a job's story tells that it
// got stuck or broke off, and why; 0 for none.
func repairs(events []chela.JobEvent, t chela.TurnID) (n int, why string) {
	for _, e := range events {
		number, ok := strings.CutPrefix(e.Key, repairKey(t))
		if run, err := strconv.Atoi(number); ok && err == nil && run > n {
			n, why = run, e.Text
		}
	}
	return n, why
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

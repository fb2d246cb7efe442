package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/job/wording"
)

// errKnown ends a transaction of a request that was carried out before.
var errKnown = errors.New("the request is known")

// A Saying is what somebody says to a job. Key names the request, which is carried
// out once; empty, it is new.
type Saying struct{ Text, Key, By string }

func (s Saying) event(kind chela.JobEventKind) chela.JobEvent {
	return chela.JobEvent{Kind: kind, By: s.By, Key: s.Key, Text: s.Text}
}

// hear runs fn on a job that something is said to, unless that was said before;
// then the job is returned as it is.
func (d *Desk) hear(ctx context.Context, id chela.JobID, s Saying, fn func(a *act, j *chela.Job) error) (chela.Job, error) {
	if err := checkText(s.Text); err != nil {
		return chela.Job{}, err
	}
	j, err := d.change(ctx, "job.hear", id, func(a *act, j *chela.Job) error {
		e, known, err := a.w.JobEventByKey(ctx, id, s.Key)
		switch {
		case err != nil:
			return err
		case known && e.Text != s.Text:
			return chela.E(chela.Conflict, fmt.Sprintf("under the key %.60q job %s was told something else", s.Key, id)).
				WithHint("use another key for what is new")
		case known:
			return errKnown
		}
		return fn(a, j)
	})
	if errors.Is(err, errKnown) {
		err = nil
	}
	return j, err
}

func checkText(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return chela.E(chela.Invalid, "there is nothing to say").WithHint("say what the job should know")
	case len(text) > chela.MaxMessageBytes:
		return chela.E(chela.Invalid, fmt.Sprintf("the text is longer than %d bytes", chela.MaxMessageBytes)).WithHint("say it in fewer words")
	}
	return nil
}

// Prompt says something to a job: it enters the turn that runs, or is its next
// message; one that waits for its place is told when it begins. Key names the
// request, which is carried out once. A job that ended is a Conflict.
func (d *Desk) Prompt(ctx context.Context, id chela.JobID, s Saying) error {
	_, err := d.hear(ctx, id, s, func(a *act, j *chela.Job) error {
		if !j.State.Live() {
			return wording.NotNow(*j)
		}
		if err := a.note(ctx, j, s.event(chela.JobPrompted)); err != nil {
			return err
		}
		if !takesMessages(*j) {
			return nil
		}
		j.Waits, j.Reason = 0, ""
		return a.say(ctx, j, s.Text, true)
	})
	return err
}

// Cancel ends a job with its turn, its parts and its subagents; what they have done
// stays. One that was cancelled before stays so. A job that ended in another way is a
// Conflict.
func (d *Desk) Cancel(ctx context.Context, id chela.JobID, by string) (chela.Job, error) {
	return d.change(ctx, "job.cancel", id, func(a *act, j *chela.Job) error {
		switch {
		case j.State == chela.JobCancelled:
			return nil
		case j.State.Live():
			return a.cancel(ctx, j, chela.JobEvent{By: by, Text: "cancelled by " + by}, by != string(j.Requester))
		default:
			return wording.NotNow(*j)
		}
	})
}

// Accept says that a person finds the result of a job good. It is a Conflict if
// there is none.
func (d *Desk) Accept(ctx context.Context, id chela.JobID, by string) (chela.Job, error) {
	return d.change(ctx, "job.accept", id, func(a *act, j *chela.Job) error {
		switch {
		case j.State == chela.JobAccepted:
			return nil
		case !j.State.CanMove(chela.JobAccepted):
			return wording.NotNow(*j)
		}
		return a.move(ctx, j, chela.JobAccepted, chela.JobEvent{By: by})
	})
}

// An Again is a wish that a job begins anew. Limits that are 0 stay as they were.
type Again struct {
	By      string
	Steps   int           // of one turn
	Timeout time.Duration // of one run of a turn
	Tokens  int64         // that all turns of the attempt may take together
}

// bound gives a job the limits of a wish.
func (w Again) bound(j *chela.Job) {
	o := &j.Options
	o.Steps, o.Timeout, o.Tokens = cmp.Or(w.Steps, o.Steps), cmp.Or(w.Timeout, o.Timeout), cmp.Or(w.Tokens, o.Tokens)
}

// check refuses limits that the home does not leave to a job.
func (w Again) check(home Limits) error {
	for _, l := range []struct {
		name, key  string
		want, most int64
		of         any
	}{
		{"steps", "steps", int64(w.Steps), int64(home.Steps), home.Steps},
		{"timeout", "timeout", int64(w.Timeout), int64(home.Timeout), home.Timeout},
		{"tokens", "tokens", w.Tokens, home.Tokens, home.Tokens},
	} {
		switch {
		case l.want < 0:
			return chela.E(chela.Invalid, l.name+" cannot be less than nothing").WithHint("leave it out, and it stays as it was")
		case l.most > 0 && l.want > l.most:
			return chela.E(chela.Invalid, fmt.Sprintf("the home gives a job no more %s than %v", l.name, l.of)).
				WithHint("raise it there: chela config set jobs." + l.key)
		}
	}
	return nil
}

// Restart begins a job that ended anew, in a fresh thread and without the plan that
// it had, and those of its parts that did not complete. A job that goes on, or was
// accepted, is a Conflict; limits that the home does not allow are Invalid.
func (d *Desk) Restart(ctx context.Context, id chela.JobID, wish Again) (chela.Job, error) {
	return d.change(ctx, "job.restart", id, func(a *act, j *chela.Job) error {
		if j.State.Live() || !j.State.CanMove(chela.JobPending) {
			return wording.NotNow(*j)
		}
		if err := wish.check(a.limits(j.Class())); err != nil {
			return err
		}
		wish.bound(j)
		if err := a.w.PlanJob(ctx, id, nil); err != nil {
			return err
		}
		asked, err := a.w.JobsAskedBy(ctx, j.Session)
		if err != nil {
			return err
		}
		j.Waits = 0
		for _, part := range slices.DeleteFunc(asked, isOther) {
			if again := slices.Contains([]chela.JobState{chela.JobFailed, chela.JobInterrupted, chela.JobCancelled}, part.State); again {
				if part, err = a.w.LockJob(ctx, part.ID); err != nil {
					return err
				}
				part.Thread = ""
				wish.bound(&part)
				if err := a.again(ctx, &part, wish.By); err != nil {
					return err
				}
			}
			if part.State.Live() {
				j.Waits++
				continue
			}
			part.AnnouncedAt = time.Time{} // the fresh thread knows nothing of it
			if err := a.keep(ctx, &part); err != nil {
				return err
			}
		}
		j.Thread = ""
		return a.again(ctx, j, wish.By)
	})
}

// Modify sends a job that ended back with what to change; its conversation goes on.
// A job that goes on, was cancelled or accepted is a Conflict.
func (d *Desk) Modify(ctx context.Context, id chela.JobID, s Saying) (chela.Job, error) {
	return d.hear(ctx, id, s, func(a *act, j *chela.Job) error {
		if !j.State.CanMove(chela.JobModified) {
			return wording.NotNow(*j)
		}
		if err := a.move(ctx, j, chela.JobModified, s.event(chela.JobMoved)); err != nil {
			return err
		}
		return a.again(ctx, j, s.By)
	})
}

// again makes a job pending.
func (a *act) again(ctx context.Context, j *chela.Job, by string) error {
	j.AnnouncedAt, j.ArchiveAt, j.ArchivedAt, j.Repairs = time.Time{}, time.Time{}, time.Time{}, 0
	j.Reason = waitsFor(j.Waits)
	if err := a.move(ctx, j, chela.JobPending, chela.JobEvent{By: by}); err != nil {
		return err
	}
	return a.dispatch(ctx, j.Class(), true)
}

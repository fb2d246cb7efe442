package job

import (
	"cmp"
	"context"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
)

// A Message is a message to a job. Key is its idempotency key; empty means a new
// message.
type Message struct{ Text, Key, By string }

func (s Message) event(kind chela.JobEventKind) chela.JobEvent {
	return chela.JobEvent{Kind: kind, By: s.By, Key: s.Key, Text: s.Text}
}

// hear runs fn on a job that receives a message, unless the message is a
// repetition; then it returns the job unchanged.
func (d *Jobs) hear(ctx context.Context, id chela.JobID, s Message, fn func(a *act, j *chela.Job) error) (chela.Job, error) {
	if err := checkText(s.Text); err != nil {
		return chela.Job{}, err
	}
	return d.change(ctx, "job.hear", id, func(a *act, j *chela.Job) error {
		e, known, err := a.w.JobEventByKey(ctx, id, s.Key)
		switch {
		case err != nil:
			return err
		case !known:
			return fn(a, j)
		case e.Text != s.Text:
			return chela.Ef(chela.Conflict, "the key %.60q was already used for another message to job %s", s.Key, id).
				WithHint("use a new key for a new request")
		default:
			return nil
		}
	})
}

func checkText(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return chela.E(chela.Invalid, "the message is empty").WithHint("write what the job should know")
	case len(text) > chela.MaxMessageBytes:
		return chela.Ef(chela.Invalid, "the text is longer than %d bytes", chela.MaxMessageBytes).WithHint("shorten it")
	}
	return nil
}

// Prompt sends a message to a job: it steers the running turn or becomes the
// next message; a pending job receives it when it starts. Key makes the call
// idempotent. It returns Conflict if the job has ended.
func (d *Jobs) Prompt(ctx context.Context, id chela.JobID, s Message) (chela.Job, error) {
	return d.hear(ctx, id, s, func(a *act, j *chela.Job) error {
		if !j.State.Live() {
			return notNow(*j)
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
}

// Cancel ends a job with its turn, its parts and its subagents; effects already
// made stay. Cancelling a cancelled job does nothing. It returns Conflict if
// the job ended in another way.
func (d *Jobs) Cancel(ctx context.Context, id chela.JobID, by string) (chela.Job, error) {
	return d.change(ctx, "job.cancel", id, func(a *act, j *chela.Job) error {
		switch {
		case j.State == chela.JobCancelled:
			return nil
		case j.State.Live():
			return a.cancel(ctx, j, chela.JobEvent{By: by, Text: "cancelled by " + by}, by != string(j.Requester))
		default:
			return notNow(*j)
		}
	})
}

// Accept records a person's approval of a job's result. It returns Conflict if
// there is no result.
func (d *Jobs) Accept(ctx context.Context, id chela.JobID, by string) (chela.Job, error) {
	return d.change(ctx, "job.accept", id, func(a *act, j *chela.Job) error {
		switch {
		case j.State == chela.JobAccepted:
			return nil
		case !j.State.CanMove(chela.JobAccepted):
			return notNow(*j)
		}
		return a.move(ctx, j, chela.JobAccepted, chela.JobEvent{By: by})
	})
}

// bound sets the limits of a restart on the job.
func bound(j *chela.Job, l api.RestartLimits) {
	o := &j.Options
	o.Steps, o.Timeout, o.Tokens = cmp.Or(l.Steps, o.Steps), cmp.Or(l.Timeout, o.Timeout), cmp.Or(l.Tokens, o.Tokens)
}

// checkRestart returns Invalid for limits above those of the home.
func checkRestart(wish api.RestartLimits, home ClassLimits) error {
	for _, l := range []struct {
		name       string
		want, most int64
		of         any
	}{
		{"steps", int64(wish.Steps), int64(home.Steps), home.Steps},
		{"timeout", int64(wish.Timeout), int64(home.Timeout), home.Timeout},
		{"tokens", wish.Tokens, home.Tokens, home.Tokens},
	} {
		switch {
		case l.want < 0:
			return chela.E(chela.Invalid, l.name+" cannot be negative").WithHint("leave it out to keep the present value")
		case l.most > 0 && l.want > l.most:
			return chela.Ef(chela.Invalid, "the limit of %s for a job is %v", l.name, l.of).
				WithHint("raise it: chela config set jobs." + l.name)
		}
	}
	return nil
}

// Restart begins an ended job again, in a fresh thread and without its old
// plan, together with its parts that did not complete. It returns Conflict if
// the job is live or accepted, and Invalid for limits that the home does not
// allow.
func (d *Jobs) Restart(ctx context.Context, id chela.JobID, by string, limits api.RestartLimits) (chela.Job, error) {
	return d.change(ctx, "job.restart", id, func(a *act, j *chela.Job) error {
		if j.State.Live() || !j.State.CanMove(chela.JobPending) {
			return notNow(*j)
		}
		if err := checkRestart(limits, a.limits(j.Class())); err != nil {
			return err
		}
		bound(j, limits)
		if err := a.w.PlanJob(ctx, id, nil); err != nil {
			return err
		}
		asked, err := a.w.JobsAskedBy(ctx, j.Session)
		if err != nil {
			return err
		}
		j.Waits = 0
		for _, part := range asked {
			if !isPart(part) {
				continue
			}
			switch part.State {
			case chela.JobFailed, chela.JobInterrupted, chela.JobCancelled:
				if part, err = a.w.LockJob(ctx, part.ID); err != nil {
					return err
				}
				part.Thread = ""
				bound(&part, limits)
				if err := a.again(ctx, &part, by); err != nil {
					return err
				}
			}
			if part.State.Live() {
				j.Waits++
				continue
			}
			part.AnnouncedAt = time.Time{} // the fresh thread does not contain it
			if err := a.keep(ctx, &part); err != nil {
				return err
			}
		}
		j.Thread = ""
		return a.again(ctx, j, by)
	})
}

// Modify continues an ended job in its thread with a correction. It returns
// Conflict if the job is live, cancelled or accepted.
func (d *Jobs) Modify(ctx context.Context, id chela.JobID, s Message) (chela.Job, error) {
	return d.hear(ctx, id, s, func(a *act, j *chela.Job) error {
		if !j.State.CanMove(chela.JobModified) {
			return notNow(*j)
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
	if err := a.cfg.Copies.Renew(ctx, a.w, j.ID); err != nil {
		return err
	}
	if err := a.move(ctx, j, chela.JobPending, chela.JobEvent{By: by}); err != nil {
		return err
	}
	return a.dispatch(ctx, j.Class(), true)
}

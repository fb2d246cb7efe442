package background

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/job"
)

// Leave says that this process begins nothing from now on: what it makes due is left
// to processes that stay.
func (b *Background) Leave() { b.work.Leave() }

// Create takes a job in. Its session, if it has one, is told with the origin how it
// ends. It is Invalid if it could not be done as asked.
func (b *Background) Create(ctx context.Context, q api.NewJob, origin chela.Origin, by string) (chela.Job, error) {
	if err := b.check(q); err != nil {
		return chela.Job{}, err
	}
	return b.jobs.Create(ctx, job.Order{
		Key: q.Key, Agent: cmp.Or(q.Agent, chela.MainAgent), Title: q.Title, Text: q.Text, By: by, Priority: q.Priority, Options: q.Options,
		Requester: q.Session, Origin: origin, Parts: q.Parts,
	})
}

// The most that a job can be given.
const (
	maxSteps    = 1000
	maxTimeout  = 30 * 24 * time.Hour
	maxPriority = 1000
)

// thinkingLevels are how much a model can be asked to reason; empty leaves it open.
func thinkingLevels() []chela.ThinkingLevel {
	return []chela.ThinkingLevel{
		"", chela.ThinkingOff, chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh,
	}
}

// check returns what is wrong with a request for a job.
func (b *Background) check(q api.NewJob) error {
	if q.Session != "" {
		if _, err := chela.ParseSessionKey(q.Session); err != nil {
			return err
		}
	}
	o := q.Options
	if err := checkLimits(q.Priority, o); err != nil {
		return err
	}
	if !slices.Contains(thinkingLevels(), o.Thinking) {
		return chela.E(chela.Invalid, fmt.Sprintf("%.40q is no level of thinking", o.Thinking)).WithHint("use off, minimal, low, medium, high or xhigh")
	}
	if !slices.Contains([]chela.Cleanup{"", chela.CleanupKeep, chela.CleanupDelete}, o.Cleanup) {
		return chela.E(chela.Invalid, fmt.Sprintf("%.40q is no way to clean up", o.Cleanup)).WithHint("use keep or delete")
	}
	if o.Model == "" {
		return nil
	}
	return b.cfg.Usable(o.Model)
}

// checkLimits returns which limit is out of bounds.
func checkLimits(priority int, o chela.JobOptions) error {
	for _, bound := range []struct {
		name          string
		n, from, most int64
	}{
		{"priority", int64(priority), -maxPriority, maxPriority},
		{"steps", int64(o.Steps), 0, maxSteps},
		{"timeout", int64(o.Timeout), 0, int64(maxTimeout)},
		{"tokens", o.Tokens, 0, 1_000_000_000},
	} {
		if bound.n < bound.from || bound.n > bound.most {
			return chela.E(chela.Invalid, fmt.Sprintf("%s cannot be %d", bound.name, bound.n)).
				WithHint(fmt.Sprintf("use %d to %d", bound.from, bound.most))
		}
	}
	return nil
}

// Restart begins a job that ended anew, with the limits that are given.
func (b *Background) Restart(ctx context.Context, id chela.JobID, q api.JobAgain, by string) (chela.Job, error) {
	if err := checkLimits(0, chela.JobOptions{Steps: q.Steps, Timeout: q.Timeout, Tokens: q.Tokens}); err != nil {
		return chela.Job{}, err
	}
	return b.jobs.Restart(ctx, id, job.Again{By: by, Steps: q.Steps, Timeout: q.Timeout, Tokens: q.Tokens})
}

// List returns the jobs that pass a filter, the newest first.
func (b *Background) List(ctx context.Context, f api.JobFilter) ([]chela.Job, error) {
	return b.jobs.Jobs(ctx, job.Filter{States: f.States, Kind: f.Kind, Requester: f.Requester, Before: f.Before, Limit: f.Limit})
}

// Job returns a job with what belongs to it, or NotFound.
func (b *Background) Job(ctx context.Context, id chela.JobID) (api.Job, error) {
	v, err := b.jobs.Job(ctx, id)
	return api.Job(v), err
}

// Prompt says something to a job and returns what became of it.
func (b *Background) Prompt(ctx context.Context, id chela.JobID, q api.JobText, by string) (chela.Job, error) {
	if err := b.jobs.Prompt(ctx, id, job.Saying{Text: q.Text, Key: q.Key, By: by}); err != nil {
		return chela.Job{}, err
	}
	v, err := b.jobs.Job(ctx, id)
	return v.Job, err
}

// Modify sends a job that ended back with what to change.
func (b *Background) Modify(ctx context.Context, id chela.JobID, q api.JobText, by string) (chela.Job, error) {
	return b.jobs.Modify(ctx, id, job.Saying{Text: q.Text, Key: q.Key, By: by})
}

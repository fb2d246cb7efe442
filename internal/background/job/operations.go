package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"chela"
	"chela/internal/api"
)

// Operations binds the operations on jobs.
func (d *Jobs) Operations() []api.Bound {
	return []api.Bound{
		api.JobsList.Do(d.list),
		api.JobsCreate.Do(d.create),
		api.JobsShow.Do(d.show),
		api.JobsEvents.Do(d.events),
		api.JobsFiles.Do(func(ctx context.Context, _ api.Caller, q api.JobFilesQuery) (api.Page[api.JobFile], error) {
			files, err := d.Files(ctx, q.ID)
			if err != nil {
				return api.Page[api.JobFile]{}, err
			}
			return api.Cut(files, q.After, q.Limit, func(f api.JobFile) string { return f.Path })
		}),
		api.JobsFile.Do(func(ctx context.Context, _ api.Caller, q api.JobFileRef) ([]byte, error) {
			return d.File(ctx, q.ID, q.Path)
		}),
		api.JobsCancel.Do(func(ctx context.Context, c api.Caller, q api.JobRef) (chela.Job, error) {
			return d.Cancel(ctx, q.ID, c.By)
		}),
		api.JobsPause.Do(func(ctx context.Context, c api.Caller, q api.JobRef) (chela.Job, error) {
			return d.Pause(ctx, q.ID, c.By)
		}),
		api.JobsResume.Do(func(ctx context.Context, c api.Caller, q api.JobRef) (chela.Job, error) {
			return d.Resume(ctx, q.ID, c.By)
		}),
		api.JobsRestart.Do(func(ctx context.Context, c api.Caller, q api.JobRestart) (chela.Job, error) {
			if err := checkLimits(0, chela.JobOptions{Steps: q.Limits.Steps, Timeout: q.Limits.Timeout, Tokens: q.Limits.Tokens}); err != nil {
				return chela.Job{}, err
			}
			return d.Restart(ctx, q.ID, RestartRequest{By: c.By, Steps: q.Limits.Steps, Timeout: q.Limits.Timeout, Tokens: q.Limits.Tokens})
		}),
		api.JobsAccept.Do(func(ctx context.Context, c api.Caller, q api.JobRef) (chela.Job, error) {
			return d.Accept(ctx, q.ID, c.By)
		}),
		api.JobsPrompt.Do(func(ctx context.Context, c api.Caller, q api.JobMessage) (chela.Job, error) {
			if err := d.Prompt(ctx, q.ID, saying(c, q.Message)); err != nil {
				return chela.Job{}, err
			}
			v, err := d.Job(ctx, q.ID)
			return v.Job, err
		}),
		api.JobsModify.Do(func(ctx context.Context, c api.Caller, q api.JobMessage) (chela.Job, error) {
			return d.Modify(ctx, q.ID, saying(c, q.Message))
		}),
	}
}

func saying(c api.Caller, q api.JobText) Message {
	return Message{Text: q.Text, Key: c.KeyOf(q.Key), By: c.By}
}

func (d *Jobs) list(ctx context.Context, _ api.Caller, f api.JobFilter) (api.Page[chela.Job], error) {
	if f.Before != "" {
		if _, err := d.Job(ctx, f.Before); err != nil {
			return api.Page[chela.Job]{}, api.Unknown(string(f.Before), err)
		}
	}
	// One row more than asked for tells whether there is a next page.
	found, err := d.Jobs(ctx, Filter{States: f.States, Kind: f.Kind, Requester: f.Requester, Before: f.Before, Limit: api.Rows(f.Limit) + 1})
	return api.Paged(found, f.Limit, func(j chela.Job) string { return string(j.ID) }), err
}

func (d *Jobs) show(ctx context.Context, _ api.Caller, q api.JobRef) (api.Job, error) {
	v, err := d.Job(ctx, q.ID)
	return api.Job{Job: v.Job, Steps: v.Steps, Parts: v.Parts, Usage: v.Usage, Cost: v.Cost}, err
}

func (d *Jobs) events(ctx context.Context, _ api.Caller, q api.JobEventsQuery) (api.Page[chela.JobEvent], error) {
	found, err := d.Events(ctx, q.ID, max(q.After-1, 0))
	if err != nil {
		return api.Page[chela.JobEvent]{}, err
	}
	if q.After > 0 {
		if len(found) == 0 || found[0].Seq != q.After {
			return api.Page[chela.JobEvent]{}, api.NoRow(strconv.Itoa(q.After))
		}
		found = found[1:]
	}
	return api.Paged(found, q.Limit, func(e chela.JobEvent) string { return strconv.Itoa(e.Seq) }), nil
}

// create creates a job. Its session, if it has one, receives a message with the
// origin of the caller when the job ends.
func (d *Jobs) create(ctx context.Context, c api.Caller, q api.NewJob) (chela.Job, error) {
	if err := d.checkNew(q); err != nil {
		return chela.Job{}, err
	}
	return d.Create(ctx, CreateRequest{
		Key: c.KeyOf(q.Key), Agent: cmp.Or(q.Agent, chela.MainAgent), Title: q.Title, Text: q.Text, By: c.By, Priority: q.Priority, Options: q.Options,
		Requester: q.Session, Origin: c.Origin, Parts: q.Parts,
	})
}

// The most that a job can be given.
const (
	maxTurnSteps = 1000
	maxTimeout   = 30 * 24 * time.Hour
)

// thinkingLevels are the levels of reasoning; the empty one is the default of the model.
func thinkingLevels() []chela.ThinkingLevel {
	return []chela.ThinkingLevel{
		"", chela.ThinkingOff, chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh,
	}
}

// checkNew returns an Invalid error for a request that no job can fulfil.
func (d *Jobs) checkNew(q api.NewJob) error {
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
		return chela.E(chela.Invalid, fmt.Sprintf("%.40q is not a thinking level", o.Thinking)).WithHint("use off, minimal, low, medium, high or xhigh")
	}
	if !slices.Contains([]chela.Cleanup{"", chela.CleanupKeep, chela.CleanupDelete}, o.Cleanup) {
		return chela.E(chela.Invalid, fmt.Sprintf("%.40q is not a cleanup mode", o.Cleanup)).WithHint("use keep or delete")
	}
	if o.Model == "" {
		return nil
	}
	return d.cfg.Usable(o.Model)
}

// checkLimits returns which limit is out of bounds.
func checkLimits(priority int, o chela.JobOptions) error {
	for _, bound := range []struct {
		name          string
		n, from, most int64
	}{
		{"priority", int64(priority), -MaxPriority, MaxPriority},
		{"steps", int64(o.Steps), 0, maxTurnSteps},
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

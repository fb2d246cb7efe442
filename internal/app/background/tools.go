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
	"chela/internal/store"
	"chela/internal/tool/jobs"
	"chela/internal/tool/sessions"
)

// Tools returns the tools of jobs and of sessions. The background that they work on
// is made after them, so it is asked for when they run.
func Tools(of func() *Background) []chela.Tool {
	return slices.Concat(jobs.Tools(jobDesk(of)), sessions.Tools(sessionDesk(of)))
}

// jobDesk keeps jobs for the tools.
func jobDesk(of func() *Background) jobs.Desk {
	return jobs.Desk{
		Create: func(ctx context.Context, o jobs.Order) (chela.Job, error) { return of().create(ctx, o) },
		Jobs:   func(ctx context.Context, w jobs.Wanted) ([]chela.Job, error) { return of().wanted(ctx, w) },
		Job: func(ctx context.Context, id chela.JobID) (jobs.View, error) {
			v, err := of().jobs.Job(ctx, id)
			return jobs.View(v), err
		},
		Events: func(ctx context.Context, id chela.JobID, after int) ([]chela.JobEvent, error) {
			return of().jobs.Events(ctx, id, after)
		},
		Prompt: func(ctx context.Context, id chela.JobID, text string, call chela.ToolCall) error {
			return of().jobs.Prompt(ctx, id, job.Saying{Text: text, Key: string(call.ID), By: string(call.Session)})
		},
		Cancel: func(ctx context.Context, id chela.JobID, by string) (chela.Job, error) {
			return of().jobs.Cancel(ctx, id, by)
		},
		Plan: func(ctx context.Context, id chela.JobID, steps []string) error { return of().jobs.Plan(ctx, id, steps) },
		Step: func(ctx context.Context, id chela.JobID, s chela.JobStep) error { return of().jobs.Step(ctx, id, s) },
		Parts: func(ctx context.Context, id chela.JobID, call chela.CallID, texts []string) ([]chela.Job, error) {
			return of().jobs.Parts(ctx, id, string(call), texts)
		},
		Now: func() time.Time { return of().cfg.Now() },
	}
}

// create takes in the job that a call asks for. Its session is told how it ends as
// if whoever began the call's turn had said it.
func (b *Background) create(ctx context.Context, o jobs.Order) (chela.Job, error) {
	if o.Options.Model != "" {
		if err := b.cfg.Usable(o.Options.Model); err != nil {
			return chela.Job{}, err
		}
	}
	origin, err := b.originOf(ctx, o.Call)
	if err != nil {
		return chela.Job{}, err
	}
	agent := cmp.Or(o.Agent, o.Call.Agent)
	if own, err := b.cfg.Settings.Agent(o.Call.Agent); err != nil || agent != o.Call.Agent && !own.Subagents.May(o.Call.Agent, agent) {
		return chela.Job{}, cmp.Or(err, error(chela.E(chela.Denied, fmt.Sprintf("agent %.60q may not be given work from here", agent)).
			WithHint("agents_list tells which may")))
	}
	return b.jobs.Create(ctx, job.Order{
		Key: string(o.Call.ID), Agent: agent, Title: o.Title, Text: o.Text, By: string(o.Call.Session), Priority: o.Priority,
		Options: o.Options, Requester: o.Call.Session, Origin: origin, Parts: o.Parts,
	})
}

// originOf returns the origin of the turn of a call. One that is made by hand is the
// owner's.
func (b *Background) originOf(ctx context.Context, c chela.ToolCall) (chela.Origin, error) {
	if c.Turn == "" {
		return chela.Origin{Channel: api.SocketChannel, Owner: true}, nil
	}
	t, err := store.Find(ctx, b.cfg.Store, func(r *store.Read) (chela.Turn, error) { return r.Turn(ctx, c.Turn) })
	return t.Origin, err
}

// wanted returns the newest jobs of an agent that a tool lists.
func (b *Background) wanted(ctx context.Context, w jobs.Wanted) (found []chela.Job, err error) {
	f := job.Filter{States: w.States, Requester: w.Requester, Limit: listed}
	for len(found) < w.Limit {
		page, err := b.jobs.Jobs(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, j := range page {
			if j.Agent == w.Agent && len(found) < w.Limit {
				found = append(found, j)
			}
		}
		if len(page) < listed {
			break
		}
		f.Before = page[listed-1].ID
	}
	return found, nil
}

// listed is how many rows are read at a time where some are passed over.
const listed = 200

package background

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"chela"
	"chela/internal/background/job"
	"chela/internal/background/notice"
	"chela/internal/store"
	"chela/internal/tool/self"
)

// Tools returns the tools of jobs and of sessions. The background that they use
// is made after them, so it is looked up when they run.
func Tools(of func() *Background) []chela.Tool {
	return slices.Concat(self.JobTools(jobTools(of), func() time.Time { return of().cfg.Now() }), self.SessionTools(sessionTools(of)))
}

// jobTools gives the tools access to jobs.
type jobTools func() *Background

// Create creates the job that a call asks for.
func (of jobTools) Create(ctx context.Context, o self.JobOrder) (chela.Job, error) {
	return of().create(ctx, o)
}

// Jobs returns the newest jobs of an agent that match the filter of a tool.
func (of jobTools) Jobs(ctx context.Context, w self.WantedJob) ([]chela.Job, error) {
	return of().wanted(ctx, w)
}

// Job returns a job with its steps and parts.
func (of jobTools) Job(ctx context.Context, id chela.JobID) (self.JobView, error) {
	v, err := of().jobs.Job(ctx, id)
	return self.JobView(v), err
}

// Events returns the events of a job.
func (of jobTools) Events(ctx context.Context, id chela.JobID, after int) ([]chela.JobEvent, error) {
	return of().jobs.Events(ctx, id, after)
}

// Prompt sends a message to a job.
func (of jobTools) Prompt(ctx context.Context, id chela.JobID, text string, call chela.ToolCall) error {
	return of().jobs.Prompt(ctx, id, job.Message{Text: text, Key: string(call.ID), By: string(call.Session)})
}

// Cancel cancels a job.
func (of jobTools) Cancel(ctx context.Context, id chela.JobID, by string) (chela.Job, error) {
	return of().jobs.Cancel(ctx, id, by)
}

// Plan sets the steps of a job.
func (of jobTools) Plan(ctx context.Context, id chela.JobID, steps []string) error {
	return of().jobs.Plan(ctx, id, steps)
}

// Step changes a step of a job.
func (of jobTools) Step(ctx context.Context, id chela.JobID, s chela.JobStep) error {
	return of().jobs.Step(ctx, id, s)
}

// Parts creates the parts of a job.
func (of jobTools) Parts(ctx context.Context, id chela.JobID, call chela.CallID, texts []string) ([]chela.Job, error) {
	return of().jobs.Parts(ctx, id, string(call), texts)
}

// create accepts the job that a call asks for. Its session is notified of the
// end with the rights of the principal that started the call's turn.
func (b *Background) create(ctx context.Context, o self.JobOrder) (chela.Job, error) {
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
		return chela.Job{}, cmp.Or(err, error(chela.E(chela.Denied, fmt.Sprintf("agent %.60q is not available for jobs of this agent", agent)).
			WithHint("agents_list lists the available ones")))
	}
	return b.jobs.Create(ctx, job.CreateRequest{
		Key: string(o.Call.ID), Agent: agent, Title: o.Title, Text: o.Text, By: string(o.Call.Session), Priority: o.Priority,
		Options: o.Options, Requester: o.Call.Session, Origin: origin, Parts: o.Parts,
	})
}

// originOf returns the origin of what a call starts.
func (b *Background) originOf(ctx context.Context, c chela.ToolCall) (chela.Origin, error) {
	return store.Find(ctx, b.cfg.Store, func(r *store.Read) (chela.Origin, error) { return notice.CallOrigin(ctx, r, c) })
}

// wanted returns the newest jobs of an agent that match the filter of a tool.
func (b *Background) wanted(ctx context.Context, w self.WantedJob) (found []chela.Job, err error) {
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

// listed is the page size of a filtered read.
const listed = 200

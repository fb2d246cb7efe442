package background

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/background/notice"
	"chela/internal/store"
	"chela/internal/tool/self"
)

// Tools returns the tools of jobs, routines and sessions; times are in the zone of the
// owner. The background that they use is made after them, so it is looked up when they
// run.
func Tools(of func() *Background, zone *time.Location) []chela.Tool {
	sessions := sessionTools(of)
	jobs := self.JobTools(self.JobConfig{
		Connect: func(ctx context.Context, call chela.ToolCall) (api.Local, error) {
			return of().connect(ctx, call, of().jobs.Operations())
		},
		Progress: progress(of), Agents: sessions.Agents, Now: func() time.Time { return of().cfg.Now() },
	})
	routines := self.RoutineTools(func(ctx context.Context, call chela.ToolCall) (api.Local, error) {
		home, err := of().connect(ctx, call, of().routines.Operations())
		home.Caller.By = "agent " + call.Agent
		return home, err
	}, zone)
	return slices.Concat(jobs, routines, self.SessionTools(sessions))
}

// connect returns a connection to operations for a call. What they create has the
// rights of the principal that started the call's turn.
func (b *Background) connect(ctx context.Context, call chela.ToolCall, operations []api.Bound) (api.Local, error) {
	origin, err := b.originOf(ctx, call)
	return api.Local{Operations: operations, Caller: api.Caller{
		By: string(call.Session), Origin: origin, Session: call.Session, Agent: call.Agent, Key: string(call.ID),
	}}, err
}

// progress gives a job's tools access to its plan and its parts.
type progress func() *Background

// Plan sets the steps of a job.
func (of progress) Plan(ctx context.Context, id chela.JobID, steps []string) error {
	return of().jobs.Plan(ctx, id, steps)
}

// Step changes a step of a job.
func (of progress) Step(ctx context.Context, id chela.JobID, s chela.JobStep) error {
	return of().jobs.Step(ctx, id, s)
}

// Parts creates the parts of a job.
func (of progress) Parts(ctx context.Context, id chela.JobID, key string, texts []string) ([]chela.Job, error) {
	return of().jobs.Parts(ctx, id, key, texts)
}

// originOf returns the origin of what a call starts.
func (b *Background) originOf(ctx context.Context, c chela.ToolCall) (chela.Origin, error) {
	return store.Find(ctx, b.cfg.Store, func(r *store.Read) (chela.Origin, error) { return notice.CallOrigin(ctx, r, c) })
}

// listed is the page size of a filtered read.
const listed = 200

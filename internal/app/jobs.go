package app

import (
	"context"

	"chela"
	"chela/internal/api"
	clijobs "chela/internal/cli/jobs"
	"chela/internal/client"
	"chela/internal/command"
	"chela/internal/gateway/jobs"
)

// jobsHere are the jobs of a home that is open in this process, for the commands.
func (a *App) jobsHere() clijobs.Home {
	b, desk, by := a.background, a.background.Jobs(), api.SocketAgent
	return clijobs.Home{
		Create: func(ctx context.Context, q api.NewJob) (chela.Job, error) {
			return b.Create(ctx, q, chela.Origin{Channel: api.SocketChannel, Owner: true}, by)
		},
		List: func(ctx context.Context, f api.JobFilter) ([]chela.Job, error) {
			if err := f.Check(); err != nil {
				return nil, err
			}
			return b.List(ctx, f)
		},
		Job: b.Job, Events: desk.Events,
		Cancel: func(ctx context.Context, id chela.JobID) (chela.Job, error) { return desk.Cancel(ctx, id, by) },
		Restart: func(ctx context.Context, id chela.JobID, q api.JobAgain) (chela.Job, error) {
			return b.Restart(ctx, id, q, by)
		},
		Accept: func(ctx context.Context, id chela.JobID) (chela.Job, error) { return desk.Accept(ctx, id, by) },
		Prompt: func(ctx context.Context, id chela.JobID, q api.JobText) (chela.Job, error) {
			return b.Prompt(ctx, id, q, by)
		},
		Modify: func(ctx context.Context, id chela.JobID, q api.JobText) (chela.Job, error) {
			return b.Modify(ctx, id, q, by)
		},
		Files: b.Files, File: b.File, Leave: b.Leave,
	}
}

// jobsThrough are the jobs of a home that a daemon holds, for the commands.
func jobsThrough(c *client.Client) clijobs.Home {
	j := c.Jobs()
	return clijobs.Home{
		Create: j.Create, List: j.List, Job: j.Job, Events: j.Events, Cancel: j.Cancel, Restart: j.Restart, Accept: j.Accept,
		Prompt: j.Prompt, Modify: j.Modify, Files: j.Files, File: j.File, Leave: func() {}, Served: true,
	}
}

// jobRoutes are the jobs of a home as the gateway serves them.
func (a *App) jobRoutes() jobs.Home {
	b, desk := a.background, a.background.Jobs()
	return jobs.Home{
		Create: b.Create, Jobs: b.List, Job: b.Job, Events: desk.Events, Cancel: desk.Cancel, Restart: b.Restart, Accept: desk.Accept,
		Prompt: b.Prompt, Modify: b.Modify, Files: b.Files, File: b.File,
	}
}

// jobsInChat are the jobs of a home as slash commands see them.
func (a *App) jobsInChat() command.Jobs {
	b, desk := a.background, a.background.Jobs()
	return command.Jobs{Create: b.Create, List: b.List, Job: b.Job, Events: desk.Events, Cancel: desk.Cancel}
}

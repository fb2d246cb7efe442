package background

import (
	"context"

	"chela"
	"chela/internal/background/job"
	"chela/internal/store"
)

// newJobs returns the jobs of the home.
func (b *Background) newJobs() *job.Jobs {
	set := b.cfg.Settings
	return job.New(b.cfg.Store, job.Config{
		Process: b.cfg.Process,
		Work:    b.work,
		Lanes:   b.cfg.Lanes, Runs: b.routines, Usable: b.cfg.Usable, Workspace: b.cfg.Workspace, Activity: b.cfg.Activity,
		Agent: set.CheckAgent,
		Jobs: job.ClassLimits{
			Parallel: set.Lanes.Job, Waiting: set.Jobs.Waiting, Steps: set.Jobs.Steps, Timeout: set.Jobs.Timeout, Tokens: int64(set.Jobs.Tokens),
		},
		Subagents: job.ClassLimits{
			Parallel: set.Lanes.Subagent, Waiting: set.Jobs.Waiting, Timeout: set.Subagents.Timeout, Tokens: int64(set.Jobs.Tokens),
		},
		Broke: func(ctx context.Context, w *store.Write, t chela.Turn) (string, bool, error) {
			return b.repair.Broke(ctx, w, t)
		},
		GiveUp:   b.giveUp(),
		MaxDepth: set.Jobs.Depth, MaxParts: set.Jobs.Subtasks, ArchiveAfter: set.Subagents.ArchiveAfter,
	})
}

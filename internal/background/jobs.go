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
		IDs: b.cfg.IDs, Now: b.cfg.Now, Emit: b.cfg.Emit, Log: b.cfg.Log, Work: b.work,
		Submit: func(ctx context.Context, in chela.Inbound) error {
			_, err := b.cfg.Lanes.Submit(ctx, in)
			return err
		},
		Stop: b.cfg.Lanes.Stop, Usable: b.cfg.Usable, Workspace: b.cfg.Workspace,
		Agent: set.CheckAgent,
		Jobs: job.Limits{
			Parallel: set.Lanes.Job, Waiting: set.Jobs.Waiting, Steps: set.Jobs.Steps, Timeout: set.Jobs.Timeout, Tokens: int64(set.Jobs.Tokens),
		},
		Subagents: job.Limits{
			Parallel: set.Lanes.Subagent, Waiting: set.Jobs.Waiting, Timeout: set.Subagents.Timeout, Tokens: int64(set.Jobs.Tokens),
		},
		Ended: b.routines.JobEnded, Moved: b.routines.JobMoved,
		Broke: func(ctx context.Context, w *store.Write, t chela.Turn) (string, bool, error) {
			return b.repair.Broke(ctx, w, t)
		},
		GiveUp:   b.giveUp(),
		MaxDepth: set.Jobs.Depth, MaxParts: set.Jobs.Subtasks, ArchiveAfter: set.Subagents.ArchiveAfter,
	})
}

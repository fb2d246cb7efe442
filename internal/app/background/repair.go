package background

import (
	"context"

	"chela"
	"chela/internal/notice"
	"chela/internal/repair"
	"chela/internal/store"
	"chela/internal/turn/machine"
)

// newRepair returns what mends what is stuck or broken. Every agent's trouble is told
// to the owner where he was last seen.
func (b *Background) newRepair() *repair.Keeper {
	set := b.cfg.Settings.Repair
	return repair.New(b.cfg.Store, repair.Config{
		Now: b.cfg.Now, Emit: b.cfg.Emit, Log: b.cfg.Log,
		Quiet: b.cfg.Quiet, CutOff: b.cfg.Lanes.CutOff, Stop: b.cfg.Lanes.Stop,
		Stuck: b.jobs.Stuck, Mended: b.jobs.Look, Review: b.jobs.Review,
		Tell: func(ctx context.Context, w *store.Write, n repair.Notice) ([]chela.Event, error) {
			from, err := speaker(ctx, &w.Read, n.Turn)
			if err != nil {
				return nil, err
			}
			return b.notices.Tell(ctx, w, notice.Notice{Key: n.Key, Agent: chela.MainAgent, Target: chela.TargetLast, From: from, Text: n.Text})
		},
		Every: set.Every, StuckAfter: set.StuckAfter, GiveUp: b.giveUp(), ToolFailures: set.ToolFailures, ProbeAfter: set.ProbeAfter,
	})
}

// giveUp is after how many times that it was stuck or broke off a turn is given up: no
// more than its lane would run it.
func (b *Background) giveUp() int { return min(b.cfg.Settings.Repair.Attempts, machine.MaxCrashes) }

// mend looks after the turns of this process, once it stays and if that is wanted.
func (b *Background) mend(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-b.staying:
	}
	if b.cfg.Settings.Repair.Enabled {
		b.repair.Run(ctx)
	}
}

// Watch returns a tool that is turned off while it keeps failing by its own fault.
func (b *Background) Watch(t chela.Tool) chela.Tool {
	if !b.cfg.Settings.Repair.Enabled {
		return t
	}
	return b.repair.Watch(t)
}

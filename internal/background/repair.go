package background

import (
	"context"

	"chela"
	"chela/internal/background/notice"
	"chela/internal/engine/turn/machine"
	"chela/internal/store"
)

// newRepair returns the repair of stuck turns and broken tools. Every agent's
// problems are reported to the owner's last known place.
func (b *Background) newRepair() *supervisor {
	set := b.cfg.Settings.Repair
	return newSupervisor(b.cfg.Store, supervisorConfig{
		Process: b.cfg.Process, Lanes: b.cfg.Lanes, Jobs: b.jobs,
		Quiet: b.cfg.Activity.Quiet,
		Tell: func(ctx context.Context, w *store.Write, n repairNotice) error {
			from, err := notice.Speaker(ctx, &w.Read, n.Turn)
			if err != nil {
				return err
			}
			told := notice.Notice{Key: n.Key, Agent: chela.MainAgent, Target: chela.TargetLast, From: from, Text: n.Text, Title: n.Tool}
			if n.Pushed {
				told.Kind = chela.NoticeRepair
			}
			if n.Turn.ID != "" {
				if told.Title, err = notice.Subject(ctx, &w.Read, n.Turn); err != nil {
					return err
				}
			}
			return b.notices.Tell(ctx, w, told)
		},
		StuckAfter: set.StuckAfter, GiveUp: b.giveUp(), ToolFailures: set.ToolFailures, ProbeAfter: set.ProbeAfter,
	})
}

// giveUp is how many times a turn may get stuck or be interrupted before it is
// abandoned: at most the retries of its lane.
func (b *Background) giveUp() int { return min(b.cfg.Settings.Repair.Attempts, machine.MaxCrashes) }

// Watch returns a tool that is disabled while it keeps failing through its own
// fault.
func (b *Background) Watch(t chela.Tool) chela.Tool {
	if !b.cfg.Settings.Repair.Enabled {
		return t
	}
	return b.repair.Watch(t)
}

package background

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/store"
)

// Status returns the state of the home, without that of its process.
func (b *Background) Status(ctx context.Context) (chela.Status, error) {
	cfg := b.cfg.Settings
	s := chela.Status{Home: string(cfg.Home), Database: b.cfg.Store.Engine(), Model: cfg.Model, Sandbox: string(cfg.Sandbox.Mode)}
	all, err := b.routines.Routines(ctx)
	if err != nil {
		return s, err
	}
	s.Routines = sumUp(all)
	if !slices.ContainsFunc(all, func(v chela.Routine) bool { return v.Builtin }) { // no long-running process has opened this home yet
		s.Routines.Heartbeat = b.cfg.Settings.Heartbeat.Enabled
	}
	s.Routines.Off = !b.cfg.Settings.Routines.Enabled
	err = b.cfg.Store.Read(ctx, func(r *store.Read) error {
		c, err := r.Counts(ctx)
		if err != nil {
			return err
		}
		s.Sessions, s.TurnsOpen, s.ApprovalsPending, s.InboxWaiting, s.OutboxPending = c.Sessions, c.TurnsLive, c.ApprovalsPending, c.InboxWaiting, c.OutboxPending
		if s.Jobs, err = r.CountLive(ctx); err != nil {
			return err
		}
		if s.Routines.RunsWaiting, err = r.WaitingRuns(ctx, ""); err != nil {
			return err
		}
		running, _, err := r.RunningRuns(ctx)
		for _, n := range running {
			s.Routines.RunsRunning += n
		}
		return err
	})
	return s, err
}

// sumUp summarizes the state of routines.
func sumUp(all []chela.Routine) (s chela.RoutineStatus) {
	for _, v := range all {
		switch {
		case v.Builtin:
			s.Heartbeat = s.Heartbeat || v.Enabled
			s.HeartbeatAt = later(s.HeartbeatAt, v.LastAt)
		case v.Enabled:
			s.Enabled++
		default:
			s.Idle++
		}
		if v.Enabled && !v.NextAt.IsZero() && (s.NextAt.IsZero() || v.NextAt.Before(s.NextAt)) {
			s.Next, s.NextAt = v.Name, v.NextAt
		}
	}
	return s
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

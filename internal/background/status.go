package background

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/store"
)

// Status adds the state of jobs and routines to s.
func (b *Background) Status(ctx context.Context, s *chela.Status) error {
	all, err := b.routines.Routines(ctx)
	if err != nil {
		return err
	}
	s.Routines = sumUp(all)
	if !slices.ContainsFunc(all, func(v chela.Routine) bool { return v.Builtin }) { // no long-running process has opened this home yet
		s.Routines.Heartbeat = b.cfg.Settings.Heartbeat.Enabled
	}
	s.Routines.Off = !b.cfg.Settings.Routines.Enabled
	return b.cfg.Store.Read(ctx, func(r *store.Read) (err error) {
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

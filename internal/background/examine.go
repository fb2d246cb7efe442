package background

import (
	"context"
	"time"

	"chela/internal/api"
	"chela/internal/background/job"
	"chela/internal/background/routine"
	"chela/internal/background/work"
	"chela/internal/config"
	"chela/internal/store"
)

// Examine diagnoses the background work of a home. It changes nothing.
func Examine(ctx context.Context, s *store.Store, cfg *config.Config, now time.Time) (found []api.Finding, err error) {
	err = s.Read(ctx, func(r *store.Read) error {
		if found, err = routine.Examine(ctx, r, cfg); err != nil {
			return err
		}
		jobs, err := job.Examine(ctx, r)
		if err != nil {
			return err
		}
		late, err := work.Examine(ctx, r, now)
		found = append(append(found, jobs), late...)
		return err
	})
	return found, err
}

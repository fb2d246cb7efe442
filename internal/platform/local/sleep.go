package local

import (
	"context"
	"time"
)

// Sleep sleeps for d, or until ctx ends, and returns ctx's error. If d is not
// positive, it returns ctx's error at once.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

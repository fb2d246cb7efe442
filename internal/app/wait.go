package app

import (
	"context"
	"math/rand/v2"
	"time"

	"chela/internal/provider"
)

// again says how a request that a provider did not fulfil is made again.
func again() provider.RetryConfig { return provider.RetryConfig{Wait: wait, Random: rand.Float64} }

// wait returns after d, or earlier with ctx's error.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

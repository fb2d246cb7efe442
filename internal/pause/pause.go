// Package pause waits for spans of time that can be cut short.
package pause

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends, whose error it returns. There is nothing to wait
// for if d is not positive; then it returns what ctx says.
func For(ctx context.Context, d time.Duration) error {
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

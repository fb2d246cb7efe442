package local

import (
	"context"
	"time"
)

// Every calls do once per period until ctx ends. Periods that pass during a call are
// skipped.
func Every(ctx context.Context, period time.Duration, do func()) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			do()
		}
	}
}

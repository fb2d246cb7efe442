package measure

import (
	"context"
	"errors"
	"time"
)

// Together calls f with each number below n, all at once, waits for all and
// returns their errors joined.
func Together(n int, f func(i int) error) error {
	waits := make([]func() error, n)
	for i := range n {
		waits[i] = Begin(func() error { return f(i) })
	}
	errs := make([]error, n)
	for i, wait := range waits {
		errs[i] = wait()
	}
	return errors.Join(errs...)
}

// Begin calls f in a goroutine. The caller must call wait, once, which waits
// until f has returned and returns its error.
func Begin(f func() error) (wait func() error) {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	return func() error { return <-ended }
}

// Pause waits for d, or until ctx ends, whose error it returns.
func Pause(ctx context.Context, d time.Duration) error {
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

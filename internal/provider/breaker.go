package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"chela"
)

// A BreakerConfig says when [Breaker] opens. Now and Log are required.
type BreakerConfig struct {
	Name     string // of what is behind it, for its error
	Now      func() time.Time
	Log      *slog.Logger
	Failures int           // in a row that open it; 0 means 5
	Open     time.Duration // until something is tried again; 0 means 30 s
}

// Breaker returns p behind a circuit breaker. After so many requests in a row that
// were Unavailable, requests fail at once, Unavailable and with After, until the
// time is over; then one is let through and decides for the others. Trouble of
// another kind is an answer: whoever gives it is there.
func Breaker(p chela.Provider, cfg BreakerConfig) chela.Provider {
	cfg.Failures = cmp.Or(cfg.Failures, 5)
	cfg.Open = cmp.Or(cfg.Open, 30*time.Second)
	return &breaker{inner: p, cfg: cfg}
}

type breaker struct {
	inner chela.Provider
	cfg   BreakerConfig

	mu       sync.Mutex
	failures int       // guarded by mu; in a row
	closes   time.Time // guarded by mu; when it may, once failures are enough
	trial    bool      // guarded by mu; one request is let through while it is open
}

func (b *breaker) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		trial, wait := b.enter()
		if wait > 0 {
			yield(chela.Chunk{}, &chela.ProviderError{
				Provider: b.cfg.Name, Kind: chela.Unavailable, Retryable: true, After: wait, Unpaid: true,
				Msg: fmt.Sprintf("failed %d times in a row, and is let be for %v", b.cfg.Failures, wait.Round(time.Second)),
			})
			return
		}
		r := relay{yield: yield}
		err := b.pass(ctx, req, &r, trial)
		if err != nil {
			r.fail(err)
		}
	}
}

// pass lets a request through. After a panic, which says nothing, another one may
// be the trial.
func (b *breaker) pass(ctx context.Context, req *chela.Request, r *relay, trial bool) error {
	ended := false
	defer func() {
		if !ended && trial {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.trial = false
		}
	}()
	err := r.pass(b.inner.Stream(ctx, req))
	ended = true
	b.leave(ctx, trial, err)
	return err
}

// enter lets a request through, perhaps as the trial, or returns how long it had to
// wait.
func (b *breaker) enter() (trial bool, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < b.cfg.Failures {
		return false, 0
	}
	if wait = b.closes.Sub(b.cfg.Now()); wait <= 0 && !b.trial {
		b.trial = true
		return true, 0
	}
	return false, max(wait, time.Second) // or a trial is under way
}

// leave takes note of how a request ended. One that was cancelled says nothing.
func (b *breaker) leave(ctx context.Context, trial bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trial = false
	}
	var pe *chela.ProviderError
	switch {
	case err != nil && ctx.Err() != nil:
	case err != nil && !errors.As(err, &pe): // none of the provider's
	case chela.KindOf(err) != chela.Unavailable:
		b.failures = 0
	default:
		if b.failures++; b.failures >= b.cfg.Failures {
			b.failures = b.cfg.Failures
			b.closes = b.cfg.Now().Add(b.cfg.Open)
			b.cfg.Log.Warn("circuit is open", "model", b.cfg.Name, "for", b.cfg.Open, "error", err)
		}
	}
}

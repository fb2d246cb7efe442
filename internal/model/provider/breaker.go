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

// A BreakerConfig holds the settings of [Breaker]. Now and Log are required.
type BreakerConfig struct {
	Name     string // name of the provider, for errors
	Now      func() time.Time
	Log      *slog.Logger
	Failures int           // consecutive failures that open it; 0 means 5
	Open     time.Duration // time until a trial request; 0 means 30 s
}

// Breaker wraps p in a circuit breaker. After a number of consecutive
// Unavailable errors, requests fail at once, as Unavailable with After, until
// the open time is over; then one trial request is let through and decides for
// the others. Errors of other kinds count as success, because the provider
// responded.
func Breaker(p chela.Provider, cfg BreakerConfig) chela.Provider {
	cfg.Failures = cmp.Or(cfg.Failures, 5)
	cfg.Open = cmp.Or(cfg.Open, 30*time.Second)
	return &breaker{inner: p, cfg: cfg}
}

type breaker struct {
	inner chela.Provider
	cfg   BreakerConfig

	mu       sync.Mutex
	failures int       // guarded by mu; consecutive failures
	closes   time.Time // guarded by mu; time of the next trial, once failures reached the limit
	trial    bool      // guarded by mu; a trial is in flight
}

func (b *breaker) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return relayed(func(r *relay) error {
		trial, wait := b.enter()
		if wait > 0 {
			return &chela.ProviderError{
				Provider: b.cfg.Name, Kind: chela.Unavailable, Retryable: true, After: wait, Unpaid: true,
				Msg: fmt.Sprintf("failed %d times in a row; not asked again for %v", b.cfg.Failures, wait.Round(time.Second)),
			}
		}
		ended := false
		defer func() { // a panic is inconclusive: the next request may be the trial
			if !ended {
				b.leave(ctx, trial, errors.New("panic"))
			}
		}()
		err := r.pass(b.inner.Stream(ctx, req))
		ended = true
		b.leave(ctx, trial, err)
		return err
	})
}

// enter admits a request, as the trial if the circuit is open, or returns the
// time to wait.
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
	return false, max(wait, time.Second) // or a trial is in flight
}

// leave records the outcome of a request. Cancellation is inconclusive.
func (b *breaker) leave(ctx context.Context, trial bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trial = false
	}
	_, ok := errors.AsType[*chela.ProviderError](err)
	switch {
	case err != nil && (ctx.Err() != nil || !ok): // not the provider's error
	case chela.KindOf(err) != chela.Unavailable:
		b.failures = 0
	default:
		if b.failures++; b.failures >= b.cfg.Failures {
			b.failures = b.cfg.Failures
			b.closes = b.cfg.Now().Add(b.cfg.Open)
			b.cfg.Log.Warn("circuit opened", "model", b.cfg.Name, "for", b.cfg.Open, "error", err)
		}
	}
}

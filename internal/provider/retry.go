package provider

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"chela"
)

// LongestWait is how long [Retry] waits for a provider at most. One that wants
// more time is reported instead.
const LongestWait = 60 * time.Second

// A RetryConfig says how [Retry] tries again. Wait and Random are required.
type RetryConfig struct {
	// Wait returns after d, or earlier with the error of ctx.
	Wait func(ctx context.Context, d time.Duration) error

	// Random returns a number from 0 to below 1. It may be called by several
	// goroutines at once.
	Random func() float64

	Attempts int           // in all; 0 means 3
	First    time.Duration // the wait after the first attempt; 0 means 1 s
}

// Retry returns p with further attempts: where a stream fails with an error that
// is Retryable, the request is made again after a while, which is never longer
// than LongestWait. Where the provider said how long to wait, up to half of
// cfg.First is added by chance; else the wait doubles from cfg.First on, less up
// to half of it by chance. So callers that were turned away together do not come
// back together.
func Retry(p chela.Provider, cfg RetryConfig) chela.Provider {
	cfg.Attempts = cmp.Or(cfg.Attempts, 3)
	cfg.First = cmp.Or(cfg.First, time.Second)
	return retry{inner: p, cfg: cfg}
}

type retry struct {
	inner chela.Provider
	cfg   RetryConfig
}

func (p retry) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		r := relay{yield: yield}
		for n := 1; ; n++ {
			err := r.pass(p.inner.Stream(ctx, req))
			if err == nil {
				return
			}
			wait, again := p.wait(n, err, req.Hasty)
			if again {
				// What ended the wait, if anything did, ends the stream.
				if err = p.cfg.Wait(ctx, wait); err == nil {
					continue
				}
			}
			r.fail(err)
			return
		}
	}
}

// wait returns how long to wait after attempt n failed with err, and whether to
// try again at all.
func (p retry) wait(n int, err error, hasty bool) (time.Duration, bool) {
	var pe *chela.ProviderError
	switch {
	case n >= p.cfg.Attempts, !errors.As(err, &pe), !pe.Retryable, pe.After > LongestWait:
		return 0, false
	case hasty && (pe.Kind == chela.Exhausted || pe.After > 0):
		return 0, false
	case pe.After > 0: // earlier would be in vain
		return min(pe.After+p.part(p.cfg.First/2), LongestWait), true
	}
	wait := p.cfg.First
	for range n - 1 {
		wait = min(2*wait, LongestWait)
	}
	return wait - p.part(wait/2), true
}

// part returns a random part of d.
func (p retry) part(d time.Duration) time.Duration {
	return time.Duration(p.cfg.Random() * float64(d))
}

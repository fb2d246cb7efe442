package provider_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"chela"
	"chela/internal/model/provider"
)

func breaker(p chela.Provider) chela.Provider {
	return provider.Breaker(p, provider.BreakerConfig{Name: "p/m", Now: time.Now, Log: discard(), Failures: 2, Open: 10 * time.Second})
}

// TestBreaker opens after two failures in a row, lets one request through when its
// time is over, and does as that went.
func TestBreaker(t *testing.T) {
	t.Parallel()
	ok := end{texts: []string{"a"}}
	away := failed(chela.ProviderError{Kind: chela.Unavailable})
	busy := failed(chela.ProviderError{Kind: chela.Exhausted})
	synctest.Test(t, func(t *testing.T) {
		f := &fake{ends: []end{away, busy, away, away, away, away, ok, away, away}}
		p := breaker(f)
		for i, step := range []struct {
			pass  time.Duration
			asked int
			want  chela.Kind
			after time.Duration
		}{
			{0, 1, chela.Unavailable, 0},
			{0, 2, chela.Exhausted, 0}, // an answer: the count begins anew
			{0, 3, chela.Unavailable, 0},
			{0, 4, chela.Unavailable, 0}, // open
			{0, 4, chela.Unavailable, 10 * time.Second},
			{9 * time.Second, 4, chela.Unavailable, time.Second},
			{time.Second, 5, chela.Unavailable, 0}, // the trial fails
			{0, 5, chela.Unavailable, 10 * time.Second},
			{10 * time.Second, 6, chela.Unavailable, 0},
			{10 * time.Second, 7, "", 0}, // the trial succeeds: closed
			{0, 8, chela.Unavailable, 0},
			{0, 9, chela.Unavailable, 0},
			{0, 9, chela.Unavailable, 10 * time.Second},
		} {
			if err := wait(t.Context(), step.pass); err != nil {
				t.Fatal(err)
			}
			_, err := drain(t, p.Stream(t.Context(), &chela.Request{}))
			var after time.Duration
			if pe, ok := errors.AsType[*chela.ProviderError](err); ok {
				after = pe.After
			}
			if f.asked() != step.asked || chela.KindOf(err) != step.want || after != step.after {
				t.Errorf("step %d: asked %d times, %v, after %v; want %+v", i, f.asked(), err, after, step)
			}
		}
	})
}

// TestBreakerTriesOnce lets nobody pass beside the trial, and takes a cancelled
// one for no answer.
func TestBreakerTriesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := failed(chela.ProviderError{Kind: chela.Unavailable})
		f := &fake{ends: []end{away, away, {texts: []string{"a", "b"}}}}
		p := breaker(f)
		for range 2 {
			_, _ = drain(t, p.Stream(t.Context(), &chela.Request{}))
		}
		if err := wait(t.Context(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		next, stop := iter.Pull2(p.Stream(ctx, &chela.Request{}))
		defer stop()
		if c, err, _ := next(); err != nil || c.Text != "a" {
			t.Fatalf("the trial began with %+v, %v", c, err)
		}
		_, err := drain(t, p.Stream(t.Context(), &chela.Request{}))
		if f.asked() != 3 || chela.KindOf(err) != chela.Unavailable {
			t.Errorf("beside the trial: asked %d times, %v", f.asked(), err)
		}
		cancel()
		for _, err, ok := next(); ok; _, err, ok = next() {
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		if _, err := drain(t, p.Stream(t.Context(), &chela.Request{})); err != nil || f.asked() != 4 {
			t.Errorf("the trial was cancelled, and the next one: %v after %d requests", err, f.asked())
		}
	})
}

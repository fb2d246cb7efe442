package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync/atomic"
	"time"
)

// FirstByte is the factor for the first byte's timeout in [Idle].
const FirstByte = 3

// An IdleConfig holds the settings of [Idle]. AfterFunc is required.
type IdleConfig struct {
	Limit time.Duration // longest silence; 0 means no limit

	// Hasty is the longest time to the first byte of a streamed answer while
	// another model can answer instead; 0 means no such limit.
	Hasty time.Duration

	// AfterFunc calls f after d, like time.AfterFunc.
	AfterFunc func(d time.Duration, f func()) *time.Timer
}

// Idle wraps a transport with an idle timeout: a request without a byte of
// response for cfg.Limit is cancelled. Keep-alive bytes without content reset
// the timer too. The first byte may take [FirstByte] times as long, since a
// server may have to load the model and read a long prompt, and an unstreamed
// answer arrives only when it is complete. A request that [Failover] can give to
// another model waits for cfg.Hasty only.
//
// It wraps the transport between a provider and its server. The provider
// reports the timeout like any broken connection: Unavailable and Retryable,
// Cut if an answer had begun, and Silent if no byte had arrived.
func Idle(next http.RoundTripper, cfg IdleConfig) http.RoundTripper {
	if cfg.Limit <= 0 && cfg.Hasty <= 0 {
		return next
	}
	return idle{next: next, cfg: cfg}
}

// never is a timeout that is not reached.
const never = time.Duration(math.MaxInt64)

// first returns the timeout of the first byte; 0 means none.
func (c IdleConfig) first(ctx context.Context) time.Duration {
	if first := FirstByte * c.Limit; c.Hasty <= 0 || !isHasty(ctx) || first > 0 && first < c.Hasty {
		return first
	}
	return c.Hasty
}

// hastyKey marks the context of a streamed request that another model can
// answer instead.
type hastyKey struct{}

func withHaste(ctx context.Context, hasty bool) context.Context {
	return context.WithValue(ctx, hastyKey{}, hasty)
}

func isHasty(ctx context.Context) bool {
	hasty, ok := ctx.Value(hastyKey{}).(bool)
	return ok && hasty
}

type idle struct {
	next http.RoundTripper
	cfg  IdleConfig
}

// RoundTrip implements [http.RoundTripper].
func (t idle) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	b := &watchedBody{limit: t.cfg.Limit, cancel: cancel, cause: func() error { return context.Cause(ctx) }}
	first := cmp.Or(t.cfg.first(ctx), never)
	b.timer = t.cfg.AfterFunc(first, func() {
		if b.alive.Load() {
			cancel(&idleError{after: t.cfg.Limit})
		} else {
			cancel(&idleError{after: first, silent: true})
		}
	})
	res, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		err = b.why(err)
		b.end()
		return nil, err
	}
	b.body = res.Body
	res.Body = b
	return res, nil
}

// An idleError is the cancellation cause of a request that timed out.
type idleError struct {
	after  time.Duration
	silent bool // nothing had arrived
}

func (e *idleError) Error() string { return fmt.Sprintf("no data received for %v", e.after) }

// Silent reports that nothing had arrived.
func (e *idleError) Silent() bool { return e.silent }

// A watchedBody is a response body whose reads reset the timer.
type watchedBody struct {
	body   io.ReadCloser
	limit  time.Duration
	alive  atomic.Bool // a byte has arrived
	timer  *time.Timer
	cancel context.CancelCauseFunc // of the request
	cause  func() error            // cause of the cancellation
}

// Read implements [io.Reader].
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		b.alive.Store(true)
		b.timer.Reset(cmp.Or(b.limit, never))
	}
	if err != nil {
		b.timer.Stop()
	}
	return n, b.why(err)
}

// Close implements [io.Closer].
func (b *watchedBody) Close() error {
	defer b.end()
	return b.body.Close()
}

// end releases the request's resources.
func (b *watchedBody) end() {
	b.timer.Stop()
	b.cancel(nil)
}

// why returns the error of a request, or the timeout that caused it.
func (b *watchedBody) why(err error) error {
	if given, ok := errors.AsType[*idleError](b.cause()); ok && err != nil && !errors.Is(err, io.EOF) {
		return given
	}
	return err
}

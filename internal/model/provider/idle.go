package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// FirstByte is the factor for the first byte's timeout in [Idle].
const FirstByte = 3

// An IdleConfig holds the settings of [Idle]. AfterFunc is required.
type IdleConfig struct {
	Limit time.Duration // longest silence; 0 means no limit

	// AfterFunc calls f after d, like time.AfterFunc.
	AfterFunc func(d time.Duration, f func()) *time.Timer
}

// Idle wraps a transport with an idle timeout: a request without a byte of
// response for cfg.Limit is cancelled. Keep-alive bytes without content reset
// the timer too. The first byte may take [FirstByte] times as long, since a
// server may have to load the model and read a long prompt, and an unstreamed
// answer arrives only when it is complete.
//
// It wraps the transport between a provider and its server. The provider
// reports the timeout like any broken connection: Unavailable and Retryable,
// and Cut if an answer had begun.
func Idle(next http.RoundTripper, cfg IdleConfig) http.RoundTripper {
	if cfg.Limit <= 0 {
		return next
	}
	return idle{next: next, cfg: cfg}
}

type idle struct {
	next http.RoundTripper
	cfg  IdleConfig
}

// RoundTrip implements [http.RoundTripper].
func (t idle) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	b := &watchedBody{limit: t.cfg.Limit, cancel: cancel, cause: func() error { return context.Cause(ctx) }}
	b.patience.Store(int64(FirstByte * t.cfg.Limit))
	b.timer = t.cfg.AfterFunc(FirstByte*t.cfg.Limit, func() { cancel(idleError(b.patience.Load())) })
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

// An idleError is the cancellation cause of a request that timed out after so
// long a silence.
type idleError time.Duration

func (e idleError) Error() string { return fmt.Sprintf("no data received for %v", time.Duration(e)) }

// A watchedBody is a response body whose reads reset the timer.
type watchedBody struct {
	body     io.ReadCloser
	limit    time.Duration
	patience atomic.Int64 // duration of the timer
	timer    *time.Timer
	cancel   context.CancelCauseFunc // of the request
	cause    func() error            // cause of the cancellation
}

// Read implements [io.Reader].
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		b.patience.Store(int64(b.limit))
		b.timer.Reset(b.limit)
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
	if given, ok := errors.AsType[idleError](b.cause()); ok && err != nil && !errors.Is(err, io.EOF) {
		return given
	}
	return err
}

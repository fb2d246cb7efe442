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

// FirstByte is how many times longer [Idle] waits for the first byte of an answer
// than for a further one.
const FirstByte = 3

// An IdleConfig says how long [Idle] waits. AfterFunc is required.
type IdleConfig struct {
	Limit time.Duration // for which nothing may come; 0 means for ever

	// AfterFunc calls f after d, as time.AfterFunc does.
	AfterFunc func(d time.Duration, f func()) *time.Timer
}

// Idle returns next with an end of its patience: a request of which nothing comes
// for cfg.Limit, not a byte, is given up. Bytes that say nothing, as those that
// servers send to keep a connection alive, are life. The first byte of an answer
// may take [FirstByte] times as long: a server may have to load the model and to
// read a long prompt, and one that answers in one piece writes all of it first.
//
// It stands where bytes are seen, between a provider and its server. A provider
// tells of what is given up as of any connection that breaks: Unavailable and
// Retryable, and Cut if an answer had begun.
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

// An idleError is why a request was given up: nothing came for so long.
type idleError time.Duration

func (e idleError) Error() string { return fmt.Sprintf("nothing came for %v", time.Duration(e)) }

// A watchedBody is an answer each of whose bytes sets the clock back.
type watchedBody struct {
	body     io.ReadCloser
	limit    time.Duration
	patience atomic.Int64 // how long the timer runs
	timer    *time.Timer
	cancel   context.CancelCauseFunc // of the request
	cause    func() error            // why it ended
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

// end lets go of the request.
func (b *watchedBody) end() {
	b.timer.Stop()
	b.cancel(nil)
}

// why returns the error of a request, or why it was given up.
func (b *watchedBody) why(err error) error {
	if given, ok := errors.AsType[idleError](b.cause()); ok && err != nil && !errors.Is(err, io.EOF) {
		return given
	}
	return err
}

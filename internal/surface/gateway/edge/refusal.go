package edge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"chela"
	"chela/internal/api"
)

// A Refusal is an error with a response that its kind does not determine.
type Refusal struct {
	Err    error
	Status int           // 0 is the status of the kind
	After  time.Duration // retry time, with 429 and 503
}

// Error returns the text of the error.
func (r Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the error.
func (r Refusal) Unwrap() error { return r.Err }

// TooLarge refuses a body that has more than limit bytes.
func TooLarge(limit int64) Refusal {
	return Refusal{
		Err: chela.E(chela.Invalid, fmt.Sprintf("the body has more than %d bytes", limit)).
			WithHint("send less, or files as attachments"),
		Status: http.StatusRequestEntityTooLarge,
	}
}

// Causes of cancelling long requests.
var (
	errClosing = chela.E(chela.Unavailable, "the daemon is shutting down").WithHint("ask again in a moment")
	errRevoked = chela.E(chela.Denied, "the token was revoked").WithHint("use another one")
)

// Refuse answers a request with an error, unless the response has begun.
func (v *Visit) Refuse(err error) {
	if cause := context.Cause(v.Request.Context()); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		err = TooLarge(large.Limit)
	}
	told := v.Tell(err)
	if v.status != 0 {
		return
	}
	var r Refusal
	errors.As(err, &r)
	status := cmp.Or(r.Status, api.StatusOf(told.Kind))
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		v.Header().Set("Retry-After", strconv.Itoa(retryAfter(err)))
	}
	if v.body != nil && v.body.isLeft() {
		defer v.body.drain()
		v.answerFirst()
	}
	if v.route != nil && v.route.Refuse != nil {
		v.route.Refuse(v, status, err)
		return
	}
	if err := v.Answer(status, api.ErrorBody{Error: told}); err != nil {
		v.server.cfg.Log.Error("cannot write the error response", "request", v.ID, "error", err)
	}
}

// Tell logs an error and returns its form for clients.
func (v *Visit) Tell(err error) api.Error {
	kind := chela.KindOf(err)
	v.note(kind, err)
	var w api.WaitError
	errors.As(err, &w)
	return api.Error{Kind: kind, Message: chela.MessageOf(err), Hint: chela.HintOf(err), Detail: chela.DetailOf(err), RequestID: v.ID, Turn: w.Turn}
}

// retryAfter returns after how many seconds a request may be sent again.
func retryAfter(err error) int {
	var r Refusal
	var p *chela.ProviderError
	after := time.Second
	switch {
	case errors.As(err, &r) && r.After > 0:
		after = r.After
	case errors.As(err, &p) && p.After > 0:
		after = p.After
	}
	return int((after + time.Second - 1) / time.Second)
}

// note logs an error: internal errors always, others at debug level.
func (v *Visit) note(kind chela.Kind, err error) {
	level := slog.LevelDebug
	if kind == chela.Internal {
		level = slog.LevelError
	}
	v.server.cfg.Log.Log(v.Request.Context(), level, "request refused",
		"request", v.ID, "method", v.Request.Method, "path", v.Request.URL.Path, "token", v.By.Token.ID, "kind", kind, "error", err)
}

// recovered turns a panic into an internal error, with its stack in the log. A
// response that has begun is aborted: a partial one must not look complete.
func (v *Visit) recovered() {
	p := recover()
	if p == nil {
		return
	}
	abort := v.status != 0
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		abort = true
	} else {
		v.Refuse(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
	if abort {
		panic(http.ErrAbortHandler)
	}
}

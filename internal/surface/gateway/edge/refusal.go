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

// Unauthorized refuses a caller that proved nothing.
func Unauthorized(msg, hint string) Refusal {
	return Refusal{Err: chela.E(chela.Denied, msg).WithHint(hint), Status: http.StatusUnauthorized}
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
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = TooLarge(large.Limit)
	}
	told := v.Tell(err)
	if v.status != 0 {
		return
	}
	status := StatusOf(err)
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		v.Header().Set("Retry-After", strconv.Itoa(retryAfter(err)))
	}
	if v.body != nil && v.body.isLeft() {
		defer v.body.drain()
		v.answerFirst()
	}
	if v.route != nil && v.route.Refuse != nil {
		v.route.Refuse(v, err)
		return
	}
	if err := v.Answer(status, api.ErrorBody{Error: told}); err != nil {
		v.server.cfg.Log.Error("cannot write the error response", "request", v.ID, "error", err)
	}
}

// StatusOf returns the status of an error.
func StatusOf(err error) int {
	r, _ := errors.AsType[Refusal](err)
	return cmp.Or(r.Status, api.StatusOf(chela.KindOf(err)))
}

// Tell logs an error and returns its form for clients.
func (v *Visit) Tell(err error) api.Error {
	kind := chela.KindOf(err)
	v.note(kind, err)
	w, _ := errors.AsType[api.WaitError](err)
	text := v.server.cfg.Redact
	if text == nil {
		text = func(s string) string { return s }
	}
	return api.Error{
		Kind: kind, Message: text(chela.MessageOf(err)), Hint: text(chela.HintOf(err)), Detail: text(chela.DetailOf(err)), RequestID: v.ID, Turn: w.Turn,
	}
}

// retryAfter returns after how many seconds a request may be sent again.
func retryAfter(err error) int {
	r, _ := errors.AsType[Refusal](err)
	after := r.After
	if p, ok := errors.AsType[*chela.ProviderError](err); ok {
		after = cmp.Or(after, p.After)
	}
	return int(max(1, (after+time.Second-1)/time.Second))
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

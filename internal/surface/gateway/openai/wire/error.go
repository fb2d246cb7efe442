package wire

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"

	"chela"
	"chela/internal/model/provider"
	"chela/internal/surface/gateway/edge"
)

// A problem is an error in OpenAI's form.
type problem struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`

	Limit chela.Limit `json:"limit,omitempty"` // that was reached
}

// A problemBody is the answer to a request that was not fulfilled.
type problemBody struct {
	Error problem `json:"error"`
}

// A refusal is an error about one field of a request.
type refusal struct {
	err   error
	param string // the field, such as "messages[2].content"
	code  string
}

// Error returns the message of the error behind it.
func (e *refusal) Error() string { return e.err.Error() }

// Unwrap returns the error behind it.
func (e *refusal) Unwrap() error { return e.err }

// Wrong is the Invalid error of a field's value.
func Wrong(param, msg string) error {
	return &refusal{err: chela.E(chela.Invalid, param+": "+msg), param: param, code: "invalid_value"}
}

// Unsupported is the Invalid error of a field whose value is not supported.
func Unsupported(param, msg string) error {
	return &refusal{err: chela.E(chela.Invalid, param+": "+msg), param: param, code: "unsupported_parameter"}
}

// Lacking says that the provider of a model lacks a parameter that a field sets: an
// Invalid error.
func Lacking(field string, p provider.Parameter) error {
	return Unsupported(field, "the provider of this model does not have "+string(p)+"; leave it out")
}

// Refuse says that an error is about a field of the request.
func Refuse(param, code string, err error) error { return &refusal{err: err, param: param, code: code} }

type settled struct{ error }

// Unwrap returns the error behind it.
func (e settled) Unwrap() error { return e.error }

// Settled returns an error that occurred after the message was committed: a
// retry would duplicate it.
func Settled(err error) error { return settled{err} }

// Because returns why a request was ended, where that was not the client's
// doing: the daemon stops, or the token was revoked.
func Because(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if !errors.Is(err, context.Canceled) || cause == nil {
		return err
	}
	var committed settled
	if errors.As(err, &committed) {
		return settled{cause}
	}
	return cause
}

// problemOf returns an error as a client reads it.
func problemOf(err error) problem {
	p := problem{Message: chela.MessageOf(err), Type: typeOf(statusOf(err)), Code: string(chela.KindOf(err))}
	if limited, ok := errors.AsType[*chela.Error](err); ok {
		p.Limit = limited.Limit
	}
	if field, ok := errors.AsType[*refusal](err); ok {
		p.Code = cmp.Or(field.code, p.Code)
		if field.param != "" {
			p.Param = &field.param
		}
	}
	return p
}

// statusOf returns the HTTP status of an error. A provider that refuses our key
// is no fault of the client's.
func statusOf(err error) int {
	kind := chela.KindOf(err)
	if _, ok := errors.AsType[*chela.ProviderError](err); ok && (kind == chela.Denied || kind == chela.Internal) {
		return http.StatusBadGateway
	}
	return edge.StatusOf(err)
}

// typeOf returns the type of an error as
// https://platform.openai.com/docs/guides/error-codes names them.
func typeOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusConflict:
		return "conflict_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	}
	if status >= http.StatusInternalServerError {
		return "server_error"
	}
	return "invalid_request_error"
}

// WriteError answers a request with an error in OpenAI's form. The header
// X-Should-Retry, which OpenAI's clients obey, says whether the same request may be
// retried; otherwise a Retry-After that is set goes.
func WriteError(w http.ResponseWriter, err error) {
	status := statusOf(err)
	again := (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) && mayPass(err)
	h := w.Header()
	h.Set("X-Should-Retry", strconv.FormatBool(again))
	if !again {
		h.Del("Retry-After")
	}
	write(w, status, problemBody{problemOf(err)})
}

// mayPass reports whether a retry may succeed. It cannot if the message was
// committed, a limit of the owner's is exhausted, or the provider's quota of
// the account is.
func mayPass(err error) bool {
	var committed settled
	if errors.As(err, &committed) {
		return false
	}
	if of, ok := errors.AsType[*chela.ProviderError](err); ok && !of.Retryable {
		return false
	}
	limited, ok := errors.AsType[*chela.Error](err)
	return !ok || !limited.Limit.IsOfCost()
}

// WriteJSON answers with a value. A client that has gone away gets nothing.
func WriteJSON(w http.ResponseWriter, v any) { write(w, http.StatusOK, v) }

func write(w http.ResponseWriter, status int, v any) {
	var buf sheet
	buf.put(v)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // the client is gone
}

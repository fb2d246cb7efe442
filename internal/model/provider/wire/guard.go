package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"unicode"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/platform/lazyregexp"
)

const (
	maxMessage = 300     // bytes of a message for people
	maxRefusal = 1 << 16 // bytes read of an error response
	minSecret  = 8       // bytes; headers have values such as "true", which may occur in messages
)

// A Guard converts failures of a provider's requests into *chela.ProviderError,
// with secrets redacted.
type Guard struct {
	Provider string   // its configured name
	Secrets  []string // redacted from messages, if at least 8 bytes long
}

// Client returns a copy of c that follows no redirects, since the key would be
// sent to the new address. A nil c stands for a client with the defaults of
// net/http.
func Client(c *http.Client) *http.Client {
	if c == nil {
		c = &http.Client{}
	}
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Do sends a request by next. It returns the response only if it has the
// expected form; an error status, a redirect, an HTML page, and an unstreamed
// response to a streaming request are errors.
func (g Guard) Do(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	res, err := next(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		err = g.Failed(req.Context(), err)
		if failed, ok := errors.AsType[*chela.ProviderError](err); ok && !connected.Load() {
			failed.Unpaid = true
		}
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	streamed := strings.Contains(strings.ReplaceAll(req.Header.Get("Accept"), "-", ""), "eventstream")
	if res.StatusCode < 300 && kind != "text/html" && !(streamed && kind == "application/json") {
		return res, nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if ctxErr := req.Context().Err(); ctxErr != nil {
		return nil, ctxErr
	}
	if err != nil {
		body = nil // classified by status and headers alone
	}
	return nil, g.Refused(res.StatusCode, res.Header, body)
}

// Failed classifies an error of the transport or of reading a response. The
// error of ctx is returned unchanged.
func (g Guard) Failed(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if pe, ok := errors.AsType[*chela.ProviderError](err); ok {
		return pe
	}
	// A *url.Error repeats the address, which may hold secrets.
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	failed := g.Error(chela.Unavailable, err.Error())
	failed.Retryable = !untrusted
	failed.Silent, failed.Err = isSilence(err), err
	return failed
}

// Cut returns the error for a response that ended early, with err or without
// one. The error of ctx is returned unchanged.
func (g Guard) Cut(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	msg := "the answer ended before its end"
	if err != nil {
		msg += ": " + err.Error()
	}
	e := g.Unreadable(msg)
	e.Cut, e.Silent, e.Err = true, isSilence(err), err
	return e
}

// isSilence reports whether a request was given up before the server had sent
// anything; the transport tells by a method.
func isSilence(err error) bool {
	var s interface {
		error
		Silent() bool
	}
	return errors.As(err, &s) && s.Silent()
}

// Unreadable returns the error for a response that violates the protocol.
func (g Guard) Unreadable(what string) *chela.ProviderError {
	e := g.Error(chela.Unavailable, what)
	e.Status, e.Retryable = http.StatusOK, true
	return e
}

// Event parses an event of a stream as an object. It returns an error if the
// event reports one, or is not an object.
func (g Guard) Event(raw []byte) (Value, error) {
	if told, ok := g.Told(raw); ok {
		return nil, told
	}
	event, ok := Object(raw)
	if !ok {
		return nil, g.Unreadable("sent an event that is not JSON")
	}
	return event, nil
}

// ReadObject reads a response that is one object; [provider.LimitBody] bounds
// its size. The error of ctx is returned unchanged.
func (g Guard) ReadObject(ctx context.Context, r io.Reader) (Value, error) {
	v, err := g.ReadValue(ctx, r)
	if err != nil {
		return nil, err
	}
	return g.object(v)
}

// object returns v, or an error unless it is an object or null.
func (g Guard) object(v Value) (Value, error) {
	if !v.IsObject() && string(v) != "null" {
		return nil, g.Unreadable("sent an answer that is not JSON")
	}
	return v, nil
}

// ReadValue is ReadObject for a response that may also be a list. A byte order mark
// before it is skipped.
func (g Guard) ReadValue(ctx context.Context, r io.Reader) (Value, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, g.Cut(ctx, err)
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if !json.Valid(raw) {
		return nil, g.Unreadable("sent an answer that is not JSON")
	}
	return Value(bytes.TrimSpace(raw)), nil
}

// Error returns an error of a kind with a redacted message.
func (g Guard) Error(kind chela.Kind, msg string) *chela.ProviderError {
	return &chela.ProviderError{Provider: g.Provider, Kind: kind, Msg: g.clean(msg)}
}

// Unsent returns the error for a request that cannot be built.
func (g Guard) Unsent(kind chela.Kind, msg string) *chela.ProviderError {
	e := g.Error(kind, msg)
	e.Unpaid = true
	return e
}

// Parts of an address that may hold secrets.
var (
	inAuthority = lazyregexp.New(`(://)[^/\s@"']+@`)
	inQuery     = lazyregexp.New(`(https?://[^\s?"']+)\?[^\s"']*`)
)

// clean redacts a provider's text for people: one line of at most maxMessage
// bytes, without secrets and control characters.
func (g Guard) clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for _, secret := range g.Secrets {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	text = inAuthority().ReplaceAllString(text, "$1")
	text = inQuery().ReplaceAllString(text, "$1")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		default:
			return r
		}
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	text = excerpt.Marked(text, maxMessage-len("…"))
	if text == "" {
		return "no reason given"
	}
	return text
}

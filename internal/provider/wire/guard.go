package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"unicode"

	"chela"
	"chela/internal/excerpt"
)

const (
	maxMessage = 300      // bytes of a message for people
	maxRefusal = 1 << 16  // bytes read of an answer that refuses a request
	maxAnswer  = 64 << 20 // bytes of an answer in one piece
	minSecret  = 8        // bytes; headers have values such as "true", which messages may say
)

// A Guard turns all trouble with a provider into errors for which the rest of
// the program has words. None of them tells a secret.
type Guard struct {
	Provider string   // its configured name
	Secrets  []string // what no message may tell; shorter than 8 bytes they are no secrets
}

// Client returns a copy of c that follows no redirect: the key would follow
// to whatever address the answer names. A nil c stands for a client with the
// defaults of net/http.
func Client(c *http.Client) *http.Client {
	if c == nil {
		c = &http.Client{}
	}
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Do sends a request by next. It returns an answer only if that is what was
// asked for; a refusal, a redirect, a page for people, and an answer in one
// piece to a request for a stream are errors.
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
		body = nil // the status and the headers must do
	}
	return nil, g.Refused(res.StatusCode, res.Header, body)
}

// Failed classifies an error of the transport or of reading an answer. The
// error of ctx is returned as it is.
func (g Guard) Failed(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	var pe *chela.ProviderError
	if errors.As(err, &pe) {
		return pe
	}
	// A *url.Error repeats the address, which may hold more than people
	// should see.
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var cert *tls.CertificateVerificationError
	failed := g.Error(chela.Unavailable, err.Error())
	failed.Retryable = !errors.As(err, &cert)
	failed.Err = err
	return failed
}

// Cut returns the error for an answer that ended before its end, by err or
// quietly if err is nil. The error of ctx is returned as it is.
func (g Guard) Cut(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	msg := "the answer ended before its end"
	if err != nil {
		msg += ": " + err.Error()
	}
	e := g.Unreadable(msg)
	e.Cut = true
	return e
}

// Unreadable returns the error for an answer that does not follow the
// protocol.
func (g Guard) Unreadable(what string) *chela.ProviderError {
	e := g.Error(chela.Unavailable, what)
	e.Status, e.Retryable = http.StatusOK, true
	return e
}

// Event returns the object that an event of a stream is. One that tells of a
// problem, or is no object, is an error.
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

// ReadObject reads an answer that is one object. The error of ctx is returned as it
// is.
func (g Guard) ReadObject(ctx context.Context, r io.Reader) (Value, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxAnswer))
	if err != nil {
		return nil, g.Cut(ctx, err)
	}
	whole, ok := Object(raw)
	if !ok {
		return nil, g.Unreadable("sent an answer that is not JSON")
	}
	return whole, nil
}

// Error returns an error of a kind with a message, which is made fit to be
// shown.
func (g Guard) Error(kind chela.Kind, msg string) *chela.ProviderError {
	return &chela.ProviderError{Provider: g.Provider, Kind: kind, Msg: g.clean(msg)}
}

// Unsent returns the error for a request that cannot be made.
func (g Guard) Unsent(kind chela.Kind, msg string) *chela.ProviderError {
	e := g.Error(kind, msg)
	e.Unpaid = true
	return e
}

// The parts of an address that may hold secrets.
var (
	inAuthority = regexp.MustCompile(`(://)[^/\s@"']+@`)
	inQuery     = regexp.MustCompile(`(https?://[^\s?"']+)\?[^\s"']*`)
)

// clean makes text of a provider fit for people: one line of at most
// maxMessage bytes, without secrets and control characters.
func (g Guard) clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for _, secret := range g.Secrets {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	text = inAuthority.ReplaceAllString(text, "$1")
	text = inQuery.ReplaceAllString(text, "$1")
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

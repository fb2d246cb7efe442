package provider

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"chela"
)

// maxEcho bounds what is read of the body of a refusal, in bytes.
const maxEcho = 1 << 16

// A Key is a key of a provider that is looked up for each request, since it may
// change. The provider itself knows only what stands for it.
type Key struct {
	Provider string // its name, for errors
	Stand    string // stands for the key in the headers of requests

	// Value returns the key.
	Value func(ctx context.Context) (string, error)

	// Rejected is called after the server did not accept the key.
	Rejected func()
}

// WithKey returns a transport that sends the key in place of what stands for it. An
// error of [Key.Value] is a *chela.ProviderError that is not worth a second attempt.
// If a refusal repeats the key, it is redacted.
func WithKey(next http.RoundTripper, k Key) http.RoundTripper { return keyed{next, k} }

type keyed struct {
	next http.RoundTripper
	key  Key
}

// RoundTrip implements [http.RoundTripper].
func (t keyed) RoundTrip(req *http.Request) (*http.Response, error) {
	value, err := t.key.Value(req.Context())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as a RoundTripper must
		}
		return nil, t.failed(req.Context(), err)
	}
	sent := req.Clone(req.Context())
	for name, values := range sent.Header {
		for i, v := range values {
			sent.Header[name][i] = strings.ReplaceAll(v, t.key.Stand, value)
		}
	}
	res, err := t.next.RoundTrip(sent)
	if err != nil || res.StatusCode < http.StatusMultipleChoices {
		return res, err
	}
	if res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden {
		t.key.Rejected()
	}
	return t.redacted(res, value)
}

// failed returns the error for a key that is not available.
func (t keyed) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &chela.ProviderError{Provider: t.key.Provider, Kind: chela.Denied, Msg: "its key is not available: " + chela.MessageOf(err), Unpaid: true, Err: err}
	if chela.KindOf(err) == chela.Unavailable { // a password manager that is locked
		e.Kind = chela.Unavailable
	}
	return e
}

// redacted returns a response without the key in its body.
func (t keyed) redacted(res *http.Response, value string) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxEcho))
	err = errors.Join(err, res.Body.Close())
	body = bytes.ReplaceAll(body, []byte(value), []byte("[secret]"))
	res.ContentLength = -1
	res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	return res, nil
}

// A failing reader returns an error, or io.EOF without one.
type failing struct{ err error }

// Read implements [io.Reader].
func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
)

// maxRefusal limits the body read of an error response.
const maxRefusal = 1 << 16

// errNoAnswer is in the chain of errors for a request that may or may not have
// reached the daemon.
var errNoAnswer = errors.New("no answer")

// A request is a request to the daemon.
type request struct {
	method string   // GET when empty
	path   []string // its segments, unescaped
	query  url.Values
	header http.Header
	body   any           // sent as it is if it is []byte or lines, else as JSON; nil for none
	limit  time.Duration // timeout of the whole answer; 0 is until ctx ends
}

// lines is a body of JSON objects, one per line.
type lines []byte

// do sends a request and decodes the answer into answer, unless that is nil.
// The error of ctx is returned as it is.
func (c *Client) do(ctx context.Context, r request, answer any) error {
	within := ctx
	if r.limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, r.limit)
		defer cancel()
	}
	res, err := send(within, c.plain, r)
	if err == nil {
		err = decode(res, answer)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Do executes an operation and stores the answer in out. Without an answer after
// answerTime, and the time that the request asks to wait, it is Unavailable.
func (c *Client) Do(ctx context.Context, op api.Request, out any) error {
	wait, waits := op.Wait()
	r := request{method: op.Method, query: op.Query, body: op.Body, limit: answerTime + wait}
	if op.Long && !waits {
		r.limit = 0
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(op.Path, "/"), "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			part = op.Values[strings.TrimSuffix(name, "}")]
		}
		r.path = append(r.path, part)
	}
	if _, ok := out.(*api.None); ok {
		out = nil
	}
	content, ok := out.(*[]byte)
	if !ok {
		return c.do(ctx, r, out)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	res, err := send(ctx, c.plain, r)
	if err != nil {
		return err
	}
	defer res.Body.Close() // it is only read
	*content, err = io.ReadAll(io.LimitReader(res.Body, api.MaxJobFile+1))
	switch {
	case err != nil:
		return noAnswer(err)
	case len(*content) > api.MaxJobFile:
		return misunderstood(fmt.Errorf("a file has more than %d bytes", api.MaxJobFile))
	}
	return nil
}

// send sends a request and returns its answer if it is a success. The caller
// closes its body.
func send(ctx context.Context, by *http.Client, r request) (*http.Response, error) {
	req, err := r.http(ctx)
	if err != nil {
		return nil, err
	}
	res, err := by.Do(req)
	if err != nil {
		return nil, noAnswer(err)
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close() // it is only read
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if err != nil {
		return nil, noAnswer(err)
	}
	return nil, refusal(res.StatusCode, raw)
}

// http returns the HTTP request.
func (r request) http(ctx context.Context) (*http.Request, error) {
	address := "http://localhost"
	for _, part := range r.path {
		if part == "" {
			return nil, chela.E(chela.NotFound, "nothing has an empty name")
		}
		address += "/" + segment(part)
	}
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	kind, body, err := r.content()
	if err != nil {
		return nil, chela.E(chela.Invalid, "the request is not JSON").Because(err)
	}
	req, err := http.NewRequestWithContext(ctx, cmp.Or(r.method, http.MethodGet), address, body)
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	return req, nil
}

// content returns the body and its media type.
func (r request) content() (kind string, body io.Reader, err error) {
	switch b := r.body.(type) {
	case nil:
		return "", http.NoBody, nil
	case []byte:
		return api.Bytes, bytes.NewReader(b), nil
	case lines:
		return api.Lines, bytes.NewReader(b), nil
	default:
		raw, err := json.Marshal(b)
		return api.JSON, bytes.NewReader(raw), err
	}
}

// segment escapes one segment of a path, including dots that would change the
// path.
func segment(part string) string {
	if part == "." || part == ".." {
		return strings.ReplaceAll(part, ".", "%2E")
	}
	return url.PathEscape(part)
}

// decode reads an answer and closes it.
func decode(res *http.Response, answer any) error {
	defer res.Body.Close() // it is only read
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return noAnswer(err)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return misunderstood(err)
	}
	return nil
}

// noAnswer is the error for a request without an answer.
func noAnswer(cause error) error {
	return chela.E(chela.Unavailable, "the daemon does not answer").WithHint("see chela status, then try again").
		Because(fmt.Errorf("%w: %w", errNoAnswer, cause))
}

// misunderstood is the error for an answer that is invalid for a daemon of this
// version.
func misunderstood(cause error) error {
	return chela.E(chela.Unsupported, "the daemon answers in words that this version does not know").
		WithHint("restart it, so that it is of the same version as the command").Because(cause)
}

// refusal returns the daemon's error with its kind and text.
func refusal(status int, raw []byte) error {
	var body api.ErrorBody
	if err := json.Unmarshal(raw, &body); err != nil || body.Error.Kind == "" {
		return misunderstood(fmt.Errorf("status %d: %.200q", status, raw))
	}
	return refused(body)
}

// refused returns the daemon's error.
func refused(body api.ErrorBody) error {
	e := chela.E(body.Error.Kind, strings.TrimSuffix(body.Error.Message, "; "+body.Error.Hint)).WithHint(body.Error.Hint).WithDetail(body.Error.Detail)
	if e.Kind == chela.Internal && e.Hint == "" {
		return e.WithHint("look for " + body.Error.RequestID + " in the log of the daemon")
	}
	return e
}

package openai_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"chela"
	"chela/internal/provider/openai"
)

// canned answers every request with the same body and keeps what was sent.
type canned struct {
	status int // 0 means 200
	kind   string
	body   string
	sent   string // the last request's body
	url    string
	header http.Header
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		c.sent = string(sent)
	}
	c.url, c.header = r.URL.String(), r.Header
	return &http.Response{
		StatusCode: max(c.status, http.StatusOK), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {c.kind}}, Body: io.NopCloser(strings.NewReader(c.body)),
	}, nil
}

// events is a stream of the given data.
func events(data ...string) *canned {
	return &canned{kind: "text/event-stream", body: "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"}
}

func reach(t testing.TB, c *canned, base string) *openai.Provider {
	t.Helper()
	p, err := openai.New(openai.Config{Name: "fake", BaseURL: base, APIKey: "sk-12345", HTTPClient: &http.Client{Transport: c}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ask performs one request and returns how it ended.
func ask(t testing.TB, p chela.Provider, req *chela.Request) (*chela.Finish, error) {
	t.Helper()
	var finish *chela.Finish
	var failed error
	ends := 0
	for chunk, err := range p.Stream(t.Context(), req) {
		if chunk.Finish != nil || err != nil {
			ends++
		}
		finish, failed = chunk.Finish, err
	}
	if ends != 1 || (finish == nil) == (failed == nil) {
		t.Fatalf("stream had %d ends, the last %+v and %v", ends, finish, failed)
	}
	return finish, failed
}

func hello() *chela.Request {
	return &chela.Request{Model: "m", Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}}}
}

// load serves every attachment.
func load(_ context.Context, a chela.Attachment) ([]byte, error) { return []byte("of " + a.Name), nil }

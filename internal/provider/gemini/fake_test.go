package gemini_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"chela"
	"chela/internal/provider/gemini"
)

// canned answers every request with the same body and keeps what was sent.
type canned struct {
	status int // 0 means 200
	kind   string
	body   string
	sent   string // the last request's body
	url    string
	header http.Header
	then   *canned // answers the requests after the first one, if set
	asked  bool
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.asked && c.then != nil {
		return c.then.RoundTrip(r)
	}
	c.asked = true
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

func reach(t testing.TB, c *canned) *gemini.Provider {
	t.Helper()
	p, err := gemini.New(gemini.Config{Name: "fake", BaseURL: "http://127.0.0.1:1", APIKey: "sk-12345", HTTPClient: &http.Client{Transport: c}})
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
	return &chela.Request{Model: "gemini-2.5-flash", Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}}}
}

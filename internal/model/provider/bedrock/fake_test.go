package bedrock_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"chela"
	"chela/internal/model/provider/bedrock"
	"chela/internal/model/provider/bedrock/bedrocktest"
	"chela/internal/model/provider/providertest"
)

// canned answers every request with the same body and keeps what was sent.
type canned struct {
	frames []providertest.Event // of a stream
	stream bool                 // the body is one, whatever it holds
	status int                  // 0 means 200
	label  string               // of a refusal
	body   string               // sent as it is, where there are no frames
	bodies map[string]string    // by path and query

	sent   string // the last request's body
	url    string
	header http.Header
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.sent, c.url, c.header = string(sent), r.URL.String(), r.Header
	raw := []byte(c.body)
	if body, ok := c.bodies[r.URL.RequestURI()]; ok {
		raw = []byte(body)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if c.label != "" {
		header.Set("X-Amzn-Errortype", c.label)
	}
	if c.stream || len(c.frames) > 0 {
		header.Set("Content-Type", "application/vnd.amazon.eventstream")
	}
	raw = append(raw, framed(c.frames)...)
	return &http.Response{
		StatusCode: max(c.status, http.StatusOK), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: header, Body: io.NopCloser(bytes.NewReader(raw)),
	}, nil
}

// freeze writes the frames once, for all requests.
func (c *canned) freeze() { c.body, c.frames, c.stream = string(framed(c.frames)), nil, true }

func framed(events []providertest.Event) (raw []byte) {
	for _, e := range events {
		raw = append(raw, bedrocktest.Frame(e)...)
	}
	return raw
}

func reach(t testing.TB, c *canned, cfg bedrock.Config) *bedrock.Provider {
	t.Helper()
	if cfg.Keys.ID == "" {
		cfg.APIKey = "key-12345"
	}
	cfg.Name, cfg.Region, cfg.HTTPClient, cfg.Now = "fake", bedrocktest.Region, &http.Client{Transport: c}, now
	p, err := bedrock.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hello() *chela.Request {
	return &chela.Request{Model: "m:1/x", Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}}}
}

func event(name, data string) providertest.Event { return providertest.Event{Name: name, Data: data} }

var (
	end  = event("messageStop", `{"stopReason":"end_turn"}`)
	over = event("metadata", `{"usage":{"inputTokens":9,"outputTokens":7,"totalTokens":20,"cacheReadInputTokens":4}}`)
)

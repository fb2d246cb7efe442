package anthropic_test

import (
	"net/http"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider/anthropic"
	"chela/internal/model/provider/providertest"
)

// events is a stream of the given data, each under the name that it tells.
func events(data ...string) *providertest.CannedAnswer {
	return &providertest.CannedAnswer{Kind: "text/event-stream", Body: "event: x\ndata: " + strings.Join(data, "\n\nevent: x\ndata: ") + "\n\n"}
}

func reach(t testing.TB, c *providertest.CannedAnswer) *anthropic.Provider {
	t.Helper()
	return reachModel(t, c, 0)
}

// reachModel is reach for a model whose longest answer is known.
func reachModel(t testing.TB, c *providertest.CannedAnswer, longest int) *anthropic.Provider {
	t.Helper()
	p, err := anthropic.New(anthropic.Config{
		Name: "fake", BaseURL: "http://127.0.0.1:1", APIKey: "sk-12345", HTTPClient: &http.Client{Transport: c}, MaxOutput: longest,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hello() *chela.Request {
	return &chela.Request{Model: "claude-sonnet-4-5", Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}}}
}

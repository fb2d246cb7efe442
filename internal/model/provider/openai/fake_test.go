package openai_test

import (
	"context"
	"net/http"
	"testing"

	"chela"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/providertest"
)

func reach(t testing.TB, c *providertest.CannedAnswer, base string) *openai.Provider {
	t.Helper()
	p, err := openai.New(openai.Config{Name: "fake", BaseURL: base, APIKey: "sk-12345", HTTPClient: &http.Client{Transport: c}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hello() *chela.Request {
	return &chela.Request{Model: "m", Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}}}
}

// load serves every attachment.
func load(_ context.Context, a chela.Attachment) ([]byte, error) { return []byte("of " + a.Name), nil }

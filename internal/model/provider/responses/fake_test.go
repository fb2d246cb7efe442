package responses_test

import (
	"net/http"
	"testing"

	"chela"
	"chela/internal/model/provider/providertest"
	"chela/internal/model/provider/responses"
)

func reach(t testing.TB, c *providertest.CannedAnswer, base string) *responses.Provider {
	t.Helper()
	p, err := responses.New(responses.Config{Name: "fake", BaseURL: base, APIKey: "sk-12345", HTTPClient: &http.Client{Transport: c}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hello() *chela.Request {
	return &chela.Request{Model: "m", Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}}}
}

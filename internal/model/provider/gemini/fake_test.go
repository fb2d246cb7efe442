package gemini_test

import (
	"net/http"
	"testing"

	"chela"
	"chela/internal/model/provider/gemini"
	"chela/internal/model/provider/providertest"
)

func reach(t testing.TB, c *providertest.CannedAnswer) *gemini.Provider {
	t.Helper()
	p, err := gemini.New(gemini.Config{Name: "fake", BaseURL: "http://127.0.0.1:1", APIKey: "sk-12345", HTTPClient: &http.Client{Transport: c}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hello() *chela.Request {
	return &chela.Request{Model: "gemini-2.5-flash", Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}}}
}

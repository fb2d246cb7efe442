package anthropic_test

import (
	"testing"

	"chela"
	"chela/internal/provider/anthropic"
	"chela/internal/provider/providertest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Harness{
		Wire:  true,
		Model: "claude-sonnet-4-5",
		New: func(t *testing.T, c providertest.Case) chela.Provider {
			srv := providertest.Anthropic(t, c)
			p, err := anthropic.New(anthropic.Config{
				Name: "fake", BaseURL: srv.URL, APIKey: providertest.Key, HTTPClient: srv.Client(),
			})
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
	})
}

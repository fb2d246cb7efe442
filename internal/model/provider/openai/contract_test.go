package openai_test

import (
	"testing"

	"chela"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/openai/openaitest"
	"chela/internal/model/provider/providertest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Harness{
		Wire: true,
		New: func(t *testing.T, c providertest.Case) chela.Provider {
			srv := openaitest.Serve(t, c)
			p, err := openai.New(openai.Config{
				Name: "fake", BaseURL: srv.URL + "/v1", APIKey: providertest.Key, HTTPClient: srv.Client(),
			})
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
	})
}

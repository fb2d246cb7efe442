package responses_test

import (
	"testing"

	"chela"
	"chela/internal/model/provider/providertest"
	"chela/internal/model/provider/responses"
	"chela/internal/model/provider/responses/responsestest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Harness{Wire: true, New: serve})
}

func serve(t *testing.T, c providertest.Case) chela.Provider {
	srv := responsestest.Serve(t, c)
	p, err := responses.New(responses.Config{
		Name: "fake", BaseURL: srv.URL + "/v1", APIKey: providertest.Key, HTTPClient: srv.Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

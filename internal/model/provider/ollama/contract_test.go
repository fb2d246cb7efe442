package ollama_test

import (
	"testing"

	"chela"
	"chela/internal/model/provider/ollama"
	"chela/internal/model/provider/ollama/ollamatest"
	"chela/internal/model/provider/providertest"
)

func TestContract(t *testing.T) {
	const parsed = "the server reads the arguments that a model wrote; those that it cannot read never become a call"
	providertest.Run(t, providertest.Harness{Wire: true, New: serve, Skip: map[string]string{
		"usage totals":     "the server counts prompt and answer only, see TestAnswers",
		"broken arguments": parsed,
		"length stop":      parsed + "; see TestAnswers",
		"refusal stop":     "the protocol does not tell that a model declined",
	}})
}

func serve(t *testing.T, c providertest.Case) chela.Provider {
	srv := ollamatest.New(t, c)
	p, err := ollama.New(ollama.Config{Name: "fake", BaseURL: srv.URL, APIKey: providertest.Key, HTTPClient: srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

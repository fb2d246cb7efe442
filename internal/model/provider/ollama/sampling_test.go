package ollama_test

import (
	"encoding/json"
	"testing"

	"chela"
	"chela/internal/model/provider/ollama"
	"chela/internal/model/provider/providertest"
)

// TestParametersOnTheWire compares the JSON of each parameter.
func TestParametersOnTheWire(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	providertest.CheckParameters(t, ollama.Parameters(), []providertest.Parameterized{
		{Sampling: chela.Sampling{Temperature: new(0.0), TopP: new(0.5), TopK: new(int64(40)), PresencePenalty: new(1.0), FrequencyPenalty: new(-1.0), Seed: new(int64(0)), Stop: []string{"a", "b"}}, Want: `{"options":{"temperature":0,"top_p":0.5,"top_k":40,"presence_penalty":1,"frequency_penalty":-1,"seed":0,"stop":["a","b"]}}`},
		{Sampling: chela.Sampling{Format: &chela.Format{}}, Want: `{"format":"json"}`},
		{Sampling: chela.Sampling{Format: &chela.Format{Name: "n", Description: "d", Schema: schema, Strict: true}}, Want: `{"format":{"type":"object","properties":{"a":{"type":"string"}}}}`},
	}, func(t *testing.T, req chela.Request) string {
		req.Model = "m"
		c := talking("llama", 0, nil, over)
		if _, err := providertest.Ask(t, reach(t, c, ollama.Config{}), &req); err != nil {
			t.Fatal(err)
		}
		return c.sent[0]
	})
}

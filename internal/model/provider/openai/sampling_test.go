package openai_test

import (
	"encoding/json"
	"testing"

	"chela"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/providertest"
)

// TestParametersOnTheWire compares the JSON of each parameter.
func TestParametersOnTheWire(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	providertest.CheckParameters(t, openai.Parameters(), []providertest.Parameterized{
		{Sampling: chela.Sampling{Temperature: new(0.0), TopP: new(0.5), TopK: new(int64(40)), PresencePenalty: new(1.0), FrequencyPenalty: new(-1.0), Seed: new(int64(0)), Stop: []string{"a", "b"}}, Want: `{"temperature":0,"top_p":0.5,"top_k":40,"presence_penalty":1,"frequency_penalty":-1,"seed":0,"stop":["a","b"]}`},
		{Sampling: chela.Sampling{LogitBias: json.RawMessage(`{"50256":-100}`), Verbosity: "low"}, Want: `{"logit_bias":{"50256":-100},"verbosity":"low"}`},
		{Sampling: chela.Sampling{Choices: 3, TopLogprobs: new(2)}, Want: `{"n":3,"logprobs":true,"top_logprobs":2}`},
		{Sampling: chela.Sampling{Choices: 1, TopLogprobs: new(0)}, Want: `{"logprobs":true}`},
		{Tools: true, Sampling: chela.Sampling{MustCall: true}, Want: `{"tool_choice":"required"}`},
		{Tools: true, Sampling: chela.Sampling{CallTool: "f"}, Want: `{"tool_choice":{"type":"function","function":{"name":"f"}}}`},
		{Tools: true, Sampling: chela.Sampling{SingleCall: true}, Want: `{"parallel_tool_calls":false}`},
		{Sampling: chela.Sampling{Format: &chela.Format{}}, Want: `{"response_format":{"type":"json_object"}}`},
		{Tools: true, Sampling: chela.Sampling{Format: &chela.Format{Name: "n", Description: "d", Schema: schema, Strict: true}}, Want: `{"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"type":"object","properties":{"a":{"type":"string"}}},"strict":true}}}`},
	}, func(t *testing.T, req chela.Request) string {
		req.Model, req.Plain = "m", true
		c := &providertest.CannedAnswer{Kind: "application/json", Body: `{"choices":[{"message":{"content":"ok"}}]}`}
		if _, err := providertest.Ask(t, reach(t, c, local), &req); err != nil {
			t.Fatal(err)
		}
		return c.Sent
	})
}

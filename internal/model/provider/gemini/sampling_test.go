package gemini_test

import (
	"encoding/json"
	"testing"

	"chela"
	"chela/internal/model/provider/gemini"
	"chela/internal/model/provider/providertest"
)

// TestParametersOnTheWire compares the JSON of each parameter.
func TestParametersOnTheWire(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	providertest.CheckParameters(t, gemini.Parameters(), []providertest.Parameterized{
		{Sampling: chela.Sampling{Temperature: new(0.0), TopP: new(0.5), TopK: new(int64(40)), PresencePenalty: new(1.0), FrequencyPenalty: new(-1.0), Seed: new(int64(0)), Stop: []string{"a", "b"}}, Want: `{"generationConfig":{"temperature":0,"topP":0.5,"topK":40,"presencePenalty":1,"frequencyPenalty":-1,"seed":0,"stopSequences":["a","b"]}}`},
		{Tools: true, Sampling: chela.Sampling{MustCall: true}, Want: `{"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`},
		{Tools: true, Sampling: chela.Sampling{CallTool: "f"}, Want: `{"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}}`},
		{Sampling: chela.Sampling{Format: &chela.Format{}}, Want: `{"generationConfig":{"responseMimeType":"application/json"}}`},
		{Tools: true, Sampling: chela.Sampling{Format: &chela.Format{Name: "n", Description: "d", Schema: schema, Strict: true}}, Want: `{"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`},
	}, func(t *testing.T, req chela.Request) string {
		req.Model, req.Plain = "gemini-2.5-flash", true
		c := &providertest.CannedAnswer{Kind: "application/json", Body: `{"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}`}
		if _, err := providertest.Ask(t, reach(t, c), &req); err != nil {
			t.Fatal(err)
		}
		return c.Sent
	})
}

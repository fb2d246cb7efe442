package bedrock_test

import (
	"encoding/json"
	"testing"

	"chela"
	"chela/internal/model/provider/bedrock"
	"chela/internal/model/provider/providertest"
)

// TestParametersOnTheWire compares the JSON of each parameter.
func TestParametersOnTheWire(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	providertest.CheckParameters(t, bedrock.Parameters(), []providertest.Parameterized{
		{Sampling: chela.Sampling{Temperature: new(0.0), TopP: new(0.5), Stop: []string{"a", "b"}}, Want: `{"inferenceConfig":{"temperature":0,"topP":0.5,"stopSequences":["a","b"]}}`},
		{Tools: true, Sampling: chela.Sampling{MustCall: true}, Want: `{"toolConfig":{"toolChoice":{"any":{}}}}`},
		{Tools: true, Sampling: chela.Sampling{CallTool: "f"}, Want: `{"toolConfig":{"toolChoice":{"tool":{"name":"f"}}}}`},
		{Tools: true, Sampling: chela.Sampling{Format: &chela.Format{Name: "n", Description: "d", Schema: schema, Strict: true}}, Want: `{"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}","name":"n","description":"d"}}}}}`},
	}, func(t *testing.T, req chela.Request) string {
		req.Model = "m:1/x"
		c := &canned{frames: []providertest.Event{end, over}}
		if _, err := providertest.Ask(t, reach(t, c, bedrock.Config{}), &req); err != nil {
			t.Fatal(err)
		}
		return c.sent
	})
}

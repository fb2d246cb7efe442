package anthropic_test

import (
	"encoding/json"
	"testing"

	"chela"
	"chela/internal/model/provider/anthropic"
	"chela/internal/model/provider/providertest"
)

// TestParametersOnTheWire compares the JSON of each parameter.
func TestParametersOnTheWire(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	providertest.CheckParameters(t, anthropic.Parameters(), []providertest.Parameterized{
		{Sampling: chela.Sampling{Temperature: new(0.0), TopP: new(0.5), TopK: new(int64(40)), Stop: []string{"a", "b"}}, Want: `{"temperature":0,"top_p":0.5,"top_k":40,"stop_sequences":["a","b"]}`},
		{Tools: true, Sampling: chela.Sampling{MustCall: true}, Want: `{"tool_choice":{"type":"any"}}`},
		{Tools: true, Sampling: chela.Sampling{CallTool: "f"}, Want: `{"tool_choice":{"type":"tool","name":"f"}}`},
		{Tools: true, Sampling: chela.Sampling{SingleCall: true}, Want: `{"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`},
		{Tools: true, Sampling: chela.Sampling{MustCall: true, SingleCall: true}, Want: `{"tool_choice":{"type":"any","disable_parallel_tool_use":true}}`},
		{Tools: true, Sampling: chela.Sampling{Format: &chela.Format{Name: "n", Description: "d", Schema: schema, Strict: true}}, Want: `{"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}}}}}}`},
	}, func(t *testing.T, req chela.Request) string {
		req.Model, req.Plain = "claude-sonnet-4-5", true
		c := &providertest.CannedAnswer{Kind: "application/json", Body: `{"type":"message","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{}}`}
		if _, err := providertest.Ask(t, reach(t, c), &req); err != nil {
			t.Fatal(err)
		}
		return c.Sent
	})
}

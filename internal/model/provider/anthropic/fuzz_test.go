package anthropic_test

import (
	"testing"

	"chela/internal/model/provider/providertest"
)

// FuzzStream feeds any bytes as the body of a stream: the stream has exactly
// one end.
func FuzzStream(f *testing.F) {
	for _, c := range []*providertest.CannedAnswer{
		events(), events(begin, end, over), events(append(append([]string{begin}, block("0", `{"type":"text","text":"a"}`, `{"type":"text_delta","text":"b"}`)...), end)...),
		events(append(append([]string{begin}, block("-1", `{"type":"tool_use","id":"i","name":"t","input":{"a":1}}`, `{"type":"input_json_delta","partial_json":"{"}`)...), end)...),
		events(block("0", `{"type":"thinking","thinking":"","signature":""}`, `{"type":"signature_delta","signature":"s1"}`)...),
		events(`{"type":"error","error":{"type":"overloaded_error"}}`), events(`{"type":"message_delta","delta":null,"usage":7}`), events(`nul`, `{}`),
		{Body: ": ping\n\nevent: error\ndata: {\"error\":\"x\"}\r\n\r\n"},
	} {
		f.Add(c.Body, false)
	}
	f.Add(`{"type":"message","content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"i","name":"t","input":null}],"stop_reason":"tool_use"}`, true)
	f.Fuzz(func(t *testing.T, body string, plain bool) {
		c := &providertest.CannedAnswer{Kind: "text/event-stream", Body: body}
		req := hello()
		if req.Plain = plain; plain {
			c.Kind = "application/json"
		}
		finish, err := providertest.Ask(t, reach(t, c), req)
		if err == nil && finish.Stop == "" {
			t.Error("the finish has no reason to stop")
		}
	})
}

package responses_test

import (
	"strings"
	"testing"
)

// FuzzStream feeds any bytes as the body of a stream: the stream has exactly
// one end.
func FuzzStream(f *testing.F) {
	for _, c := range []*canned{
		events(), events(completed), events(strings.ReplaceAll(thoughtful, "\n", "")), events(incomplete("x")),
		events(`{"type":"response.output_item.added","output_index":-1,"item":{"type":"function_call"}}`, `{"type":"response.function_call_arguments.delta","output_index":-1,"delta":"{"}`, completed),
		events(`{"type":"response.output_text.delta","delta":{"a":1}}`, `{"type":"response.completed","response":7}`),
		events(`{"type":"error","message":null}`), events(`nul`, `{}`), events(`{"type":"response.failed","response":{"error":{"code":7}}}`),
		{body: ": ping\n\nevent: error\ndata: {\"error\":\"x\"}\r\n\r\n"},
	} {
		f.Add(c.body, false)
	}
	f.Add(`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]},{"type":"function_call","arguments":null}]}`, true)
	f.Fuzz(func(t *testing.T, body string, plain bool) {
		c := &canned{kind: "text/event-stream", body: body}
		req := hello()
		if req.Plain = plain; plain {
			c.kind = "application/json"
		}
		finish, err := ask(t, reach(t, c, local), req)
		if err == nil && finish.Stop == "" {
			t.Error("the finish has no reason to stop")
		}
	})
}

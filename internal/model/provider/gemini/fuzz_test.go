package gemini_test

import (
	"encoding/json"
	"testing"

	"chela"
	"chela/internal/model/provider/providertest"
)

// FuzzStream feeds any bytes as the body of a stream: the stream has exactly
// one end, and what it brings can be sent back.
func FuzzStream(f *testing.F) {
	for _, c := range []*providertest.CannedAnswer{
		providertest.Stream(), providertest.Stream(over), providertest.Stream(word, word, over), providertest.Stream(`nul`, `{}`), providertest.Stream(`{"candidates":null,"usageMetadata":7}`),
		providertest.Stream(`{"candidates":[{"content":{"parts":[{"text":"a","thought":true,"thoughtSignature":"s"},{"functionCall":{"name":"t","args":{"a":1}},"thoughtSignature":"x y"}]},"finishReason":"STOP"}]}`),
		providertest.Stream(`{"candidates":[{"content":{"parts":[{"functionCall":{"id":7,"args":[]}},{"text":"","thoughtSignature":"s"}]},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"m"}]}`),
		providertest.Stream(`{"promptFeedback":{"blockReason":"SAFETY"}}`), providertest.Stream(`{"error":{"code":503,"status":"UNAVAILABLE","details":[{"retryDelay":"1s"}]}}`),
		{Body: ": ping\n\nevent: error\ndata: {\"error\":\"x\"}\r\n\r\n"},
	} {
		f.Add(c.Body, false)
	}
	f.Add(`{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":-1,"cachedContentTokenCount":1e99}}`, true)
	f.Fuzz(func(t *testing.T, body string, plain bool) {
		c := &providertest.CannedAnswer{Kind: "text/event-stream", Body: body}
		req := hello()
		if req.Plain = plain; plain {
			c.Kind = "application/json"
		}
		finish, err := providertest.Ask(t, reach(t, c), req)
		if err != nil {
			return
		}
		if finish.Stop == "" {
			t.Error("the finish has no reason to stop")
		}
		c, req.Plain = providertest.Stream(over), false
		req.Messages = append(req.Messages, chela.Message{Role: chela.RoleAssistant, Text: finish.Text, Thinking: finish.Thinking, Calls: finish.Calls})
		if _, err := providertest.Ask(t, reach(t, c), req); err != nil || !json.Valid([]byte(c.Sent)) {
			t.Errorf("sent back as %s: %v", c.Sent, err)
		}
	})
}

// FuzzSchema declares a tool with any schema: what is sent is JSON of an object.
func FuzzSchema(f *testing.F) {
	for _, schema := range []string{
		``, `null`, `{}`, `{"type":"object"}`, `{"properties":{"a":true,"b":{"$ref":"#/definitions/x","description":"d"}},"definitions":{"x":{"const":1}}}`,
		`{"allOf":[{"anyOf":[]},7],"enum":[null],"items":[{}],"exclusiveMinimum":true,"minimum":2}`, `{"$ref":7,"minLength":1}`, `{"\u0074ype":"object"}`,
	} {
		f.Add(schema)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		c := providertest.Stream(over)
		req := hello()
		req.Tools = []chela.ToolSpec{{Name: "t", Input: json.RawMessage(schema)}}
		if _, err := providertest.Ask(t, reach(t, c), req); err != nil {
			if chela.KindOf(err) != chela.Invalid {
				t.Error(err)
			}
			return
		}
		var sent struct {
			Tools []struct {
				FunctionDeclarations []struct{ ParametersJSONSchema map[string]any }
			}
		}
		if err := json.Unmarshal([]byte(c.Sent), &sent); err != nil || sent.Tools[0].FunctionDeclarations[0].ParametersJSONSchema["type"] == nil {
			t.Errorf("sent %s: %v", c.Sent, err)
		}
	})
}

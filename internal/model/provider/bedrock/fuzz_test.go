package bedrock_test

import (
	"testing"

	"chela/internal/model/provider/bedrock"
	"chela/internal/model/provider/bedrock/bedrocktest"
	"chela/internal/model/provider/providertest"
)

// FuzzStream feeds any bytes as the body of a stream: the stream has exactly one
// end.
func FuzzStream(f *testing.F) {
	for _, events := range [][]providertest.Event{
		nil,
		{end},
		{end, over},
		{event("contentBlockDelta", `{"contentBlockIndex":-1,"delta":{"text":"a"}}`), end, over},
		{event("contentBlockStart", `{"start":{"toolUse":{}}}`), event("contentBlockDelta", `{"delta":{"toolUse":{"input":"{"}}}`), end},
		{event("throttlingException", `{"message":"m"}`)},
		{event("validationException", `[]`)},
		{event("metadata", `{"usage":7}`)},
	} {
		var raw []byte
		for _, e := range events {
			raw = append(raw, bedrocktest.Frame(e)...)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		finish, err := providertest.Ask(t, reach(t, &canned{body: string(raw), stream: true}, bedrock.Config{}), hello())
		if err == nil && finish.Stop == "" {
			t.Error("the finish has no reason to stop")
		}
	})
}

// FuzzEvents feeds any JSON as the data of an event of each type, and any body
// as an answer in one piece.
func FuzzEvents(f *testing.F) {
	for _, data := range []string{
		`{"contentBlockIndex":0,"delta":{"text":"a","reasoningContent":{"text":"b"}}}`, `{"delta":{"reasoningContent":{"text":"b","redactedContent":"c"}}}`,
		`{"start":{"toolUse":{"toolUseId":"","name":null}}}`, `{"output":{"message":{"content":[{"text":"a"},{"toolUse":{"input":[]}}]}},"stopReason":"end_turn"}`,
	} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		frames := []providertest.Event{event("contentBlockStart", data), event("contentBlockDelta", data), event("contentBlockStop", data), event("metadata", data), end, over}
		for _, c := range []*canned{{frames: frames}, {body: data}} {
			req := hello()
			req.Plain = c.body != ""
			finish, err := providertest.Ask(t, reach(t, c, bedrock.Config{}), req)
			if err == nil && finish.Stop == "" {
				t.Error("the finish has no reason to stop")
			}
		}
	})
}

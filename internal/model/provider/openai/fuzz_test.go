package openai_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"chela/internal/model/catalogue"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/providertest"
)

// FuzzStream feeds any bytes as the body of a stream: the stream has exactly
// one end.
func FuzzStream(f *testing.F) {
	for _, body := range []string{
		"", "data: [DONE]\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"id\":\"a\",\"function\":{\"name\":\"t\",\"arguments\":\"{\"}}]}}]}\n\n",
		"data: {\"error\":{\"message\":\"x\",\"code\":429}}\n\n", ": ping\n\nevent: error\ndata: {\"error\":\"x\"}\n\n",
		"data: {\"choices\":[{\"delta\":{\"reasoning\":\"hm\"}}],\"usage\":{\"prompt_tokens\":-1,\"prompt_tokens_details\":{\"cached_tokens\":1e99}}}\n\n",
		"data: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"t\",\"index\":0,\"text\":\"\\ud83d\"},7,{\"index\":0,\"a\\\"\":[1]}]}}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":null,\"model\":7}\n\n", "data: nul\n\n", "\xef\xbb\xbfdata: {}\r\n\r\n",
	} {
		f.Add(body, false)
	}
	f.Add(`{"choices":[{"message":{"content":"hi","tool_calls":[{"id":"a","function":{"name":"t"}}]},"finish_reason":"stop"}]}`, true)
	f.Fuzz(func(t *testing.T, body string, plain bool) {
		c := &providertest.CannedAnswer{Kind: "text/event-stream", Body: body}
		req := hello()
		if req.Plain = plain; plain {
			c.Kind = "application/json"
		}
		p, err := openai.New(openai.Config{BaseURL: local, HTTPClient: &http.Client{Transport: c}, Has: []catalogue.Feature{catalogue.FeatureReasoningDetails}})
		if err != nil {
			t.Fatal(err)
		}
		finish, err := providertest.Ask(t, p, req)
		if err != nil {
			return
		}
		if finish.Stop == "" {
			t.Error("the finish has no reason to stop")
		}
		for _, block := range finish.Thinking {
			if block.Signature != "" && !json.Valid([]byte(block.Signature)) {
				t.Errorf("the details %q are not JSON", block.Signature)
			}
		}
	})
}

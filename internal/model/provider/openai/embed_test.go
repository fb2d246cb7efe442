package openai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider"
	"chela/internal/model/provider/providertest"
)

func TestEmbed(t *testing.T) {
	t.Parallel()
	c := &providertest.CannedAnswer{Kind: "application/json", Body: `{"object":"list","data":[
		{"object":"embedding","index":1,"embedding":[-1e-8]},{"object":"embedding","index":0,"embedding":[0.1, 0.25]}],"model":"m-2","usage":{"prompt_tokens":8,"total_tokens":8}}`}
	for _, tt := range []struct {
		req  provider.EmbeddingRequest
		sent string
	}{
		{provider.EmbeddingRequest{Model: "m", Texts: []string{"a", "ü"}}, `{"model":"m","input":["a","ü"]}`},
		{
			provider.EmbeddingRequest{Model: "m", Tokens: [][]int64{{1, 2}, {3}}, Dimensions: 5, User: "ann"},
			`{"model":"m","input":[[1,2],[3]],"dimensions":5,"user":"ann"}`,
		},
	} {
		got, err := reach(t, c, local).Embed(t.Context(), &tt.req)
		if err != nil {
			t.Fatal(err)
		}
		want := &provider.EmbeddingAnswer{Vectors: [][]float32{{0.1, 0.25}, {-1e-8}}, Tokens: 8}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		if c.Sent != tt.sent || c.URL != local+"/embeddings" || c.Header.Get("Authorization") != "Bearer sk-12345" {
			t.Errorf("sent %s to %s", c.Sent, c.URL)
		}
	}
}

func TestEmbedFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		body   string
		kind   chela.Kind
	}{
		{"key", 401, `{"error":{"message":"Incorrect API key provided: sk-12345","code":"invalid_api_key"}}`, chela.Denied},
		{"rate", 429, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, chela.Exhausted},
		{"too long", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`, chela.Invalid},
		{"error inside", 200, `{"error":{"message":"sk-12345 is busy","type":"server_error"}}`, chela.Unavailable},
		{"no JSON", 200, `oops`, chela.Unavailable},
		{"too few", 200, `{"data":[{"index":0,"embedding":[1]}]}`, chela.Unavailable},
		{"twice the same", 200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, chela.Unavailable},
		{"far index", 200, `{"data":[{"index":0,"embedding":[1]},{"index":-7,"embedding":[1]}]}`, chela.Unavailable},
		{"no numbers", 200, `{"data":[{"embedding":[1]},{"embedding":[1,null]}]}`, chela.Unavailable},
		{"too large a number", 200, `{"data":[{"embedding":[1]},{"embedding":[1e40]}]}`, chela.Unavailable},
		{"empty vector", 200, `{"data":[{"embedding":[1]},{"embedding":[]}]}`, chela.Unavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &providertest.CannedAnswer{Status: tt.status, Kind: "application/json", Body: tt.body}
			_, err := reach(t, c, local).Embed(t.Context(), &provider.EmbeddingRequest{Model: "m", Texts: []string{"a", "b"}})
			if chela.KindOf(err) != tt.kind || strings.Contains(err.Error(), "sk-12345") {
				t.Errorf("got %v, want %s without the key", err, tt.kind)
			}
		})
	}
}

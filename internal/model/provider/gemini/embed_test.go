package gemini_test

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
	c := &providertest.CannedAnswer{Kind: "application/json", Body: `{"embeddings":[{"values":[0.1,0.25]},{"values":[-1e-8]}],"usageMetadata":{"promptTokenCount":8}}`}
	for model, path := range map[string]string{"e": "models/e", "models/e": "models/e", "tunedModels/e": "tunedModels/e"} {
		got, err := reach(t, c).Embed(t.Context(), &provider.EmbeddingRequest{Model: model, Texts: []string{"a", "ü"}, Dimensions: 2})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&provider.EmbeddingAnswer{Vectors: [][]float32{{0.1, 0.25}, {-1e-8}}, Tokens: 8}, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		sent := `{"requests":[{"model":"M","content":{"parts":[{"text":"a"}]},"outputDimensionality":2},{"model":"M","content":{"parts":[{"text":"ü"}]},"outputDimensionality":2}]}`
		if want := strings.ReplaceAll(sent, `"M"`, `"`+path+`"`); c.Sent != want || c.URL != "http://127.0.0.1:1/v1beta/"+path+":batchEmbedContents" {
			t.Errorf("sent %s to %s", c.Sent, c.URL)
		}
		if c.Header.Get("X-Goog-Api-Key") != "sk-12345" {
			t.Errorf("header is %v", c.Header)
		}
	}
}

func TestEmbedFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		body   string
		kind   chela.Kind
	}{
		{400, `{"error":{"code":400,"message":"API key not valid: sk-12345","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, chela.Denied},
		{429, `{"error":{"code":429,"message":"exceeded","status":"RESOURCE_EXHAUSTED"}}`, chela.Exhausted},
		{200, `{"embeddings":[]}`, chela.Unavailable},
		{200, `{"embeddings":[{"values":[1]},{"values":[2]}]}`, chela.Unavailable},
	} {
		c := &providertest.CannedAnswer{Status: tt.status, Kind: "application/json", Body: tt.body}
		_, err := reach(t, c).Embed(t.Context(), &provider.EmbeddingRequest{Model: "e", Texts: []string{"a"}})
		if chela.KindOf(err) != tt.kind || strings.Contains(err.Error(), "sk-12345") {
			t.Errorf("%s: got %v, want %s without the key", tt.body, err, tt.kind)
		}
	}
}

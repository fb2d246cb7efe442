package ollama_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider"
	"chela/internal/model/provider/ollama"
	"chela/internal/model/provider/providertest"
)

func TestEmbed(t *testing.T) {
	t.Parallel()
	c := &providertest.CannedAnswer{Kind: "application/json; charset=utf-8", Body: `{"model":"e","embeddings":[[0.1,0.25],[-1e-8]],"total_duration":1,"prompt_eval_count":8}`}
	got, err := embedder(t, c).Embed(t.Context(), &provider.EmbeddingRequest{Model: "e", Texts: []string{"a", "ü"}, Dimensions: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&provider.EmbeddingAnswer{Vectors: [][]float32{{0.1, 0.25}, {-1e-8}}, Tokens: 8}, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if want := `{"model":"e","input":["a","ü"],"truncate":false,"dimensions":2}`; c.Sent != want || c.URL != "http://127.0.0.1:11434/api/embed" {
		t.Errorf("sent %s to %s\nwant %s", c.Sent, c.URL, want)
	}
}

func TestEmbedFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status   int
		body     string
		kind     chela.Kind
		overflow bool
	}{
		{400, `{"error":"the input length exceeds the context length"}`, chela.Invalid, true},
		{404, `{"error":"model \"e\" not found, try pulling it first"}`, chela.NotFound, false},
		{501, `{"error":"this model does not support embeddings"}`, chela.Unsupported, false},
		{200, `{"embeddings":[[1],[2]]}`, chela.Unavailable, false},
		{200, `{"error":"out of memory"}`, chela.Unavailable, false},
	} {
		c := &providertest.CannedAnswer{Status: tt.status, Kind: "application/json", Body: tt.body}
		_, err := embedder(t, c).Embed(t.Context(), &provider.EmbeddingRequest{Model: "e", Texts: []string{"a"}})
		failed, ok := errors.AsType[*chela.ProviderError](err)
		if !ok || failed.Kind != tt.kind || failed.Overflow != tt.overflow {
			t.Errorf("%s: got %v, want %s", tt.body, err, tt.kind)
		}
	}
}

func embedder(t *testing.T, c *providertest.CannedAnswer) *ollama.Provider {
	t.Helper()
	p, err := ollama.New(ollama.Config{HTTPClient: &http.Client{Transport: c}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

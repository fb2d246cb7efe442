package main_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"chela"
	"chela/internal/model/provider/openai/openaitest"
	"chela/internal/model/provider/providertest"
)

// TestEmbeddingsArePaid: a request for embeddings is in the ledger with its tokens,
// and one that a limit of money does not leave room for is not sent.
func TestEmbeddingsArePaid(t *testing.T) {
	t.Parallel()
	served := providertest.NewCase("embeddings", providertest.Answer{})
	d := startDaemon(t, "CHELA_LIMITS_USD_PER_DAY=0.01",
		"OPENAI_API_KEY="+providertest.Key, "OPENAI_BASE_URL="+openaitest.Serve(t, served).URL+"/v1")
	embed := func(model, text string) (status int) {
		t.Helper()
		body := map[string]any{"model": model, "input": text}
		status, err := d.send(d.request(t.Context(), http.MethodPost, "/v1/embeddings", body), nil)
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	long := strings.Repeat("a word ", 2000)
	for _, tt := range []struct {
		model, text string
		want        int
	}{
		{"openai/text-embedding-3-small", long, http.StatusOK},
		{"openai/of-unknown-price", long, http.StatusTooManyRequests},
		{"offline/rules", "x", http.StatusNotImplemented},
	} {
		if got := embed(tt.model, tt.text); got != tt.want {
			t.Errorf("%s: answered %d, want %d", tt.model, got, tt.want)
		}
	}
	var sums []chela.UsageSum
	if err := json.Unmarshal([]byte(d.run("usage", "--json", "--by", "purpose")), &sums); err != nil {
		t.Fatal(err)
	}
	want := []chela.UsageSum{{Purpose: "embedding", Calls: 1, Tokens: chela.TokenUsage{Input: int64(len(long))}, Cost: 280}} // $0.02 for a million tokens
	if !slices.Equal(sums, want) || len(served.Received()) != 1 {
		t.Errorf("%d requests were made, and the ledger has %+v, want %+v", len(served.Received()), sums, want)
	}
	d.stop()
}

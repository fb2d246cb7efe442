package agents_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/model/provider"
	"chela/internal/model/provider/gemini/geminitest"
	"chela/internal/model/provider/ollama/ollamatest"
	"chela/internal/model/provider/openai/openaitest"
	"chela/internal/model/provider/providertest"
)

// TestEmbedByEveryKind asks the server of each kind that has embeddings for more of
// them than fit into one request, and counts each request.
func TestEmbedByEveryKind(t *testing.T) {
	t.Parallel()
	var texts []string
	want := &provider.EmbeddingAnswer{}
	for i := range 205 {
		text := fmt.Sprintf("text %d", i)
		texts = append(texts, text)
		want.Vectors = append(want.Vectors, providertest.Vector(text, 2))
		want.Tokens += int64(len(text))
	}
	for _, tt := range []struct {
		kind, path string
		serve      func(*testing.T, providertest.Case) *httptest.Server
		ignored    []string
	}{
		{"openai", "/v1", openaitest.Serve, nil},
		{"ollama", "", ollamatest.New, []string{"user"}},
		{"gemini", "", geminitest.Serve, []string{"user"}},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, all(good), all(good))
			c := providertest.NewCase("c", good)
			h.text += fmt.Sprintf("[providers.c]\nkind = %q\nbase_url = %q\napi_key = \"env:KEY\"\n", tt.kind, tt.serve(t, c).URL+tt.path)
			got, err := h.open(t, "").Embed(t.Context(), "c/e", provider.EmbeddingRequest{Texts: texts, Dimensions: 2, User: "ann"})
			if err != nil {
				t.Fatal(err)
			}
			want := *want
			want.Ignored = tt.ignored
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			var sent []string
			for _, r := range c.Received() {
				sent = append(sent, r.Texts...)
			}
			if !slices.Equal(sent, texts) || len(c.Received()) != 3 || !slices.Equal(h.paid, []string{"c/e", "c/e", "c/e"}) {
				t.Errorf("%d texts came in %d requests, and these counted: %v", len(sent), len(c.Received()), h.paid)
			}
		})
	}
}

// TestEmbedTakesTheNextKey: a key that is refused rests, and the next one is asked.
func TestEmbedTakesTheNextKey(t *testing.T) {
	t.Parallel()
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		asked = append(asked, key)
		if key != providertest.Key {
			http.Error(w, `{"error":{"message":"no such key","code":"invalid_api_key"}}`, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1]}],"usage":{"prompt_tokens":1}}`)
	}))
	t.Cleanup(srv.Close)
	h := newHome(t, all(good), all(good))
	h.text = fmt.Sprintf("[providers.a]\nkind = \"openai\"\nbase_url = %q\napi_key = \"env:WRONG_KEY\"\nkeys = [\"env:KEY\"]\n", srv.URL)
	p := h.open(t, "")
	for range 2 {
		if got, err := p.Embed(t.Context(), "a/e", provider.EmbeddingRequest{Texts: []string{"x"}}); err != nil || len(got.Vectors) != 1 {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if want := []string{"sk-wrong-key-of-nobody", providertest.Key, providertest.Key}; !slices.Equal(asked, want) || len(h.paid) != 3 {
		t.Errorf("asked with %q, counted %v", asked, h.paid)
	}
}

// TestEmbedTriesAgain: a failure that may pass is tried again, and each request is
// counted.
func TestEmbedTriesAgain(t *testing.T) {
	t.Parallel()
	refused := providertest.Answer{Fault: providertest.FaultKey}
	for _, tt := range []struct {
		name    string
		answers []providertest.Answer
		kind    chela.Kind
		paid    int
		waited  []time.Duration
	}{
		{"overloaded", all(overloaded, good), "", 2, []time.Duration{1e9}},
		{"overloaded for good", all(overloaded), chela.Unavailable, 3, []time.Duration{1e9, 2e9}},
		{"key refused", all(refused), chela.Denied, 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, tt.answers, all(good))
			got, err := h.open(t, "").Embed(t.Context(), "a/e", provider.EmbeddingRequest{Texts: []string{"hello"}})
			if chela.KindOf(err) != tt.kind && (err != nil || tt.kind != "") || err == nil && len(got.Vectors) != 1 {
				t.Errorf("got %v, %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), providertest.Key) {
				t.Errorf("the error tells the key: %v", err)
			}
			if len(h.paid) != tt.paid {
				t.Errorf("%d requests were counted, want %d", len(h.paid), tt.paid)
			}
			if diff := cmp.Diff(tt.waited, h.waited); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEmbedRefusals: nothing is sent, and the error names a way out.
func TestEmbedRefusals(t *testing.T) {
	t.Parallel()
	h := newHome(t, all(good), all(good))
	for _, kind := range []string{"anthropic", "openai-responses", "gemini", "ollama"} {
		h.text += fmt.Sprintf("[providers.the-%s]\nkind = %q\nbase_url = \"http://127.0.0.1:1\"\napi_key = \"env:KEY\"\n", kind, kind)
	}
	h.text += "[providers.keyless]\nkind = \"anthropic\"\napi_key = \"env:NO_KEY\"\n"
	p := h.open(t, "")
	texts, tokens := provider.EmbeddingRequest{Texts: []string{"x"}}, provider.EmbeddingRequest{Tokens: [][]int64{{1}}}
	for _, tt := range []struct {
		model string
		req   provider.EmbeddingRequest
		kind  chela.Kind
		hint  string
	}{
		{"the-anthropic/e", texts, chela.Unsupported, "openai, ollama or gemini"},
		{"the-openai-responses/e", texts, chela.Unsupported, "openai, ollama or gemini"},
		{"keyless/e", texts, chela.Unsupported, "openai, ollama or gemini"},
		{"offline/rules", texts, chela.Unsupported, "openai, ollama or gemini"},
		{"the-gemini/e", tokens, chela.Invalid, "kind openai"},
		{"the-ollama/e", tokens, chela.Invalid, "kind openai"},
		{"none/e", texts, chela.NotFound, ""},
	} {
		_, err := p.Embed(t.Context(), tt.model, tt.req)
		if chela.KindOf(err) != tt.kind || !strings.Contains(chela.MessageOf(err), tt.hint) {
			t.Errorf("%s: got %v (%s), want %s", tt.model, err, chela.MessageOf(err), tt.kind)
		}
		if len(tt.req.Tokens) > 0 && !errors.Is(err, provider.ErrTextsOnly) {
			t.Errorf("%s: got %v", tt.model, err)
		}
	}
	if len(h.paid) > 0 {
		t.Errorf("these were counted: %v", h.paid)
	}
	got, err := p.Embed(t.Context(), "a/e", provider.EmbeddingRequest{Tokens: [][]int64{{1, 2}, {3}}})
	if err != nil || len(got.Vectors) != 2 || h.asked() != "a 1, b 0" {
		t.Errorf("token ids: got %v, %v, asked %s", got, err, h.asked())
	}
}

package provider

// This part of the package defines the request for embeddings and its answer,
// which the HTTP API and the providers share.

import (
	"iter"

	"chela"
)

// Purpose is the purpose of a request for embeddings in the ledger.
const Purpose = "embedding"

// ErrTextsOnly is the error for token ids sent to a provider that embeds only texts.
var ErrTextsOnly = chela.E(chela.Invalid, "this provider embeds texts only, not token ids").
	WithHint("send texts, or use a model of a provider of kind openai")

// A EmbeddingRequest asks for the vector of each input. Either Texts or Tokens is set,
// never both.
type EmbeddingRequest struct {
	Model      string    // as the provider knows it
	Texts      []string  // none is empty
	Tokens     [][]int64 // inputs as token ids of the model; only OpenAI's protocol has them
	Dimensions int       // of the vectors; 0 means the model's default
	User       string    // the end user, for the provider's abuse detection; only OpenAI's protocol has it
}

// Len returns the number of inputs.
func (r *EmbeddingRequest) Len() int { return len(r.Texts) + len(r.Tokens) }

// Batches yields the request in parts of at most n inputs each, in order.
func (r *EmbeddingRequest) Batches(n int) iter.Seq[*EmbeddingRequest] {
	return func(yield func(*EmbeddingRequest) bool) {
		for from := 0; from < r.Len(); from += n {
			part, to := *r, min(from+n, r.Len())
			if r.Tokens != nil {
				part.Tokens = r.Tokens[from:to]
			} else {
				part.Texts = r.Texts[from:to]
			}
			if !yield(&part) {
				return
			}
		}
	}
}

// An EmbeddingAnswer holds one vector for each input of a request, in order.
type EmbeddingAnswer struct {
	Vectors [][]float32
	Tokens  int64    // read by the model; 0 if the provider does not report it
	Ignored []string // fields of the request that had no effect
}

package ollama

import (
	"context"

	"chela/internal/model/provider"
	"chela/internal/model/provider/wire"
)

// An embedRequest is a request body; see https://docs.ollama.com/api/embed.
// Truncate is false, so that a text beyond the window is an error; otherwise
// the server would silently embed its beginning.
type embedRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Truncate   bool     `json:"truncate"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// Embed returns the vectors of texts. Errors are *chela.ProviderError, except ctx's
// own.
func (p *Provider) Embed(ctx context.Context, req *provider.EmbeddingRequest) (*provider.EmbeddingAnswer, error) {
	body := embedRequest{Model: req.Model, Input: req.Texts, Dimensions: req.Dimensions}
	return p.server.Embed(ctx, body, wire.EmbeddingForm{
		Path: "/api/embed", Inputs: req.Len(), List: "embeddings", Tokens: []string{"prompt_eval_count"},
	})
}

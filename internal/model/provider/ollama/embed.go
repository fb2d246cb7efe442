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
	whole, err := p.server.Object(ctx, "/api/embed", embedRequest{Model: req.Model, Input: req.Texts, Dimensions: req.Dimensions})
	if err != nil {
		return nil, err
	}
	return p.server.Embeddings(whole, req.Len(), func(into *provider.EmbeddingAnswer, name string, v wire.Value) {
		switch name {
		case "embeddings":
			into.Vectors = wire.Vectors(v, req.Len(), func(item wire.Value) wire.Value { return item })
		case "prompt_eval_count":
			into.Tokens = max(v.Int(), 0)
		}
	})
}

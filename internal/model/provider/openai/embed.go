package openai

import (
	"context"

	"chela/internal/model/provider"
	"chela/internal/model/provider/wire"
)

// An embedRequest is a request body; see
// https://platform.openai.com/docs/api-reference/embeddings/create.
// encoding_format is left out, since not every server supports it, and floats
// are the default.
type embedRequest struct {
	Model      string `json:"model"`
	Input      any    `json:"input"`
	Dimensions int    `json:"dimensions,omitempty"`
	User       string `json:"user,omitempty"`
}

// Embed returns the vectors of a request. Errors are *chela.ProviderError, except
// ctx's own.
func (p *Provider) Embed(ctx context.Context, req *provider.EmbeddingRequest) (*provider.EmbeddingAnswer, error) {
	body := embedRequest{Model: req.Model, Input: req.Texts, Dimensions: req.Dimensions, User: req.User}
	if req.Tokens != nil {
		body.Input = req.Tokens
	}
	return p.server.Embed(ctx, body, wire.EmbeddingForm{
		Path: "/embeddings", Inputs: req.Len(), List: "data", Vector: "embedding", Tokens: []string{"usage", "prompt_tokens"},
	})
}

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
	whole, err := p.server.Object(ctx, "/embeddings", body)
	if err != nil {
		return nil, err
	}
	return p.server.Embeddings(whole, req.Len(), func(into *provider.EmbeddingAnswer, name string, v wire.Value) {
		switch name {
		case "data":
			readEmbeddings(into.Vectors, v)
		case "usage":
			into.Tokens = max(v.Member("prompt_tokens").Int(), 0)
		}
	})
}

// readEmbeddings assigns the vectors of a list by their index. A vector that
// cannot be read is nil, which Embeddings rejects.
func readEmbeddings(vectors [][]float32, list wire.Value) {
	next := int64(0)
	for item := range list.Items() {
		place := next
		var vector []float32
		for name, v := range item.Members() {
			switch name {
			case "index":
				place = v.Int()
			case "embedding":
				vector = wire.Vector(v)
			}
		}
		if place >= 0 && place < int64(len(vectors)) {
			vectors[place] = vector
		}
		next++
	}
}

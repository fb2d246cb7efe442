package gemini

import (
	"context"
	"strings"

	"chela/internal/model/provider"
	"chela/internal/model/provider/wire"
)

// An embedBatch is a request body; see https://ai.google.dev/api/embeddings.
type embedBatch struct {
	Requests []embedRequest `json:"requests"`
}

type embedRequest struct {
	Model   string `json:"model"`
	Content struct {
		Parts [1]embedPart `json:"parts"`
	} `json:"content"`
	Dimensions int `json:"outputDimensionality,omitempty"`
}

type embedPart struct {
	Text string `json:"text"`
}

// Embed returns the vectors of at most 100 texts. Errors are
// *chela.ProviderError, except ctx's own.
func (p *Provider) Embed(ctx context.Context, req *provider.EmbeddingRequest) (*provider.EmbeddingAnswer, error) {
	return p.server.Embed(ctx, embedBody(req), wire.EmbeddingForm{
		Path: resource(req.Model) + ":batchEmbedContents", Inputs: req.Len(), List: "embeddings", Vector: "values",
		Tokens: []string{"usageMetadata", "promptTokenCount"},
	})
}

func embedBody(req *provider.EmbeddingRequest) embedBatch {
	model := req.Model
	if !strings.HasPrefix(model, "models/") && !strings.HasPrefix(model, "tunedModels/") {
		model = "models/" + model
	}
	batch := embedBatch{Requests: make([]embedRequest, len(req.Texts))}
	for i, text := range req.Texts {
		r := &batch.Requests[i]
		r.Model, r.Content.Parts[0].Text, r.Dimensions = model, text, req.Dimensions
	}
	return batch
}

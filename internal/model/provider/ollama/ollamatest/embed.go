package ollamatest

import (
	"fmt"
	"net/http"

	"chela/internal/model/provider/providertest"
)

// embed answers a request for embeddings as https://docs.ollama.com/api/embed says.
func embed(_ *http.Request, body []byte) ([]string, any, error) {
	var q struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Truncate   *bool    `json:"truncate"`
		Dimensions int      `json:"dimensions"`
	}
	texts, err := providertest.DecodeEmbed(body, &q, func() []string { return q.Input })
	if err != nil || q.Model == "" || q.Truncate == nil || *q.Truncate {
		return nil, nil, fmt.Errorf("model %q, or a text may be cut: %w", q.Model, err)
	}
	var vectors [][]float32
	for _, text := range texts {
		vectors = append(vectors, providertest.Vector(text, q.Dimensions))
	}
	return texts, object{
		"model": q.Model, "embeddings": vectors, "total_duration": 14143917, "load_duration": 1019500, "prompt_eval_count": providertest.Embedded(texts),
	}, nil
}

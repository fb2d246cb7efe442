package openaitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"chela/internal/model/provider/providertest"
)

// embed answers a request for embeddings as
// https://platform.openai.com/docs/api-reference/embeddings/create says, in reverse
// order, which the indexes allow. A list of token ids counts as the text of its JSON.
func embed(r *http.Request, body []byte) ([]string, any, error) {
	if r.Header.Get("Authorization") != "Bearer "+providertest.Key || r.Header.Get("Content-Type") != "application/json" {
		return nil, nil, errors.New("the key or the content type is missing")
	}
	var q struct {
		Model      string            `json:"model"`
		Input      []json.RawMessage `json:"input"`
		Dimensions int               `json:"dimensions"`
		User       string            `json:"user"`
	}
	texts, err := providertest.DecodeEmbed(body, &q, func() (texts []string) {
		for _, raw := range q.Input {
			text := string(raw)
			if raw[0] == '"' {
				_ = json.Unmarshal(raw, &text) // it is a string
			}
			texts = append(texts, text)
		}
		return texts
	})
	if err != nil || q.Model == "" {
		return nil, nil, fmt.Errorf("model %q: %w", q.Model, err)
	}
	var rows []object
	for i := len(texts) - 1; i >= 0; i-- {
		rows = append(rows, object{"object": "embedding", "index": i, "embedding": providertest.Vector(texts[i], q.Dimensions)})
	}
	n := providertest.Embedded(texts)
	return texts, object{"object": "list", "data": rows, "model": q.Model, "usage": object{"prompt_tokens": n, "total_tokens": n}}, nil
}

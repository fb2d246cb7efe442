package geminitest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"chela/internal/model/provider/providertest"
)

// embed answers a request for embeddings as https://ai.google.dev/api/embeddings
// says.
func embed(r *http.Request, body []byte) ([]string, any, error) {
	if r.Header.Get("X-Goog-Api-Key") != providertest.Key || r.Header.Get("Content-Type") != "application/json" {
		return nil, nil, errors.New("the key or the content type is missing")
	}
	var q struct {
		Requests []struct {
			Model   string `json:"model"`
			Content struct {
				Parts []struct {
					Text string `json:"text"`
				} `json:"parts"`
			} `json:"content"`
			Dimensions int `json:"outputDimensionality"`
		} `json:"requests"`
	}
	texts, err := providertest.DecodeEmbed(body, &q, func() (texts []string) {
		for _, one := range q.Requests {
			for _, part := range one.Content.Parts {
				texts = append(texts, part.Text)
			}
		}
		return texts
	})
	model := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/v1beta/"), ":batchEmbedContents")
	if err != nil || len(texts) != len(q.Requests) || len(texts) > 100 {
		return nil, nil, fmt.Errorf("%d texts in %d requests: %w", len(texts), len(q.Requests), err)
	}
	var rows []object
	for i, one := range q.Requests {
		if one.Model != model {
			return nil, nil, fmt.Errorf("model %q in a request to %q", one.Model, model)
		}
		rows = append(rows, object{"values": providertest.Vector(texts[i], one.Dimensions)})
	}
	return texts, object{"embeddings": rows, "usageMetadata": object{"promptTokenCount": providertest.Embedded(texts)}}, nil
}

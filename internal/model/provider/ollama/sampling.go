package ollama

import (
	"encoding/json"

	"chela"
	"chela/internal/model/provider"
)

// Parameters returns the parameters of Ollama's protocol, for
// [provider.Parameters]. A format constrains every token of an answer, so it
// excludes tool calls.
func Parameters() []provider.Parameter {
	return []provider.Parameter{
		provider.ParameterTemperature, provider.ParameterTopP, provider.ParameterTopK, provider.ParameterPresencePenalty, provider.ParameterFrequencyPenalty, provider.ParameterSeed, provider.ParameterStop,
		provider.ParameterJSONObject, provider.ParameterJSONSchema,
	}
}

// sampling is the sampling part of the options.
type sampling struct {
	Temperature      *float64 `json:"temperature,omitempty"`
	TopP             *float64 `json:"top_p,omitempty"`
	TopK             *int64   `json:"top_k,omitempty"`
	PresencePenalty  *float64 `json:"presence_penalty,omitempty"`
	FrequencyPenalty *float64 `json:"frequency_penalty,omitempty"`
	Seed             *int64   `json:"seed,omitempty"`
	Stop             []string `json:"stop,omitempty"`
}

// sample sets the sampling parameters.
func (r *request) sample(s *chela.Sampling) {
	if s == nil {
		return
	}
	r.Options.sampling = sampling{s.Temperature, s.TopP, s.TopK, s.PresencePenalty, s.FrequencyPenalty, s.Seed, s.Stop}
	switch {
	case s.Format == nil:
	case len(s.Format.Schema) > 0:
		r.Format = s.Format.Schema
	default:
		r.Format = json.RawMessage(`"json"`)
	}
}

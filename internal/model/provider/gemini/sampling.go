package gemini

import (
	"encoding/json"

	"chela"
	"chela/internal/model/provider"
	"chela/internal/model/provider/wire"
)

// Parameters returns the parameters of the Gemini API, for
// [provider.Parameters]. Models before generation 3 reject a format beside
// tools on their own.
func Parameters() []provider.Parameter {
	return []provider.Parameter{
		provider.ParameterTemperature, provider.ParameterTopP, provider.ParameterTopK, provider.ParameterPresencePenalty, provider.ParameterFrequencyPenalty, provider.ParameterSeed, provider.ParameterStop,
		provider.ParameterToolChoice, provider.ParameterJSONObject, provider.ParameterJSONSchema, provider.ParameterFormatWithTools,
	}
}

// sampling is the sampling part of generationConfig.
type sampling struct {
	Temperature      *float64        `json:"temperature,omitempty"`
	TopP             *float64        `json:"topP,omitempty"`
	TopK             *int64          `json:"topK,omitempty"`
	PresencePenalty  *float64        `json:"presencePenalty,omitempty"`
	FrequencyPenalty *float64        `json:"frequencyPenalty,omitempty"`
	Seed             *int64          `json:"seed,omitempty"`
	Stop             []string        `json:"stopSequences,omitempty"`
	MediaType        string          `json:"responseMimeType,omitempty"`
	Schema           json.RawMessage `json:"responseJsonSchema,omitempty"`
}

// appendSampling appends the fields of s that belong to generationConfig, each
// preceded by a comma.
func appendSampling(j *wire.JSON, s *chela.Sampling) {
	if s == nil {
		return
	}
	out := sampling{
		Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK, PresencePenalty: s.PresencePenalty, FrequencyPenalty: s.FrequencyPenalty,
		Seed: s.Seed, Stop: s.Stop,
	}
	if f := s.Format; f != nil {
		out.MediaType = "application/json"
		if schema, ok := wire.Object(f.Schema); ok && len(f.Schema) > 0 {
			var made wire.JSON
			appendParameters(&made, schema)
			out.Schema = json.RawMessage(made)
		}
	}
	j.Members(out)
}

// toolChoice writes the member that forces a tool.
func (c *conversation) toolChoice(req *chela.Request) {
	s := req.Sampling
	if s == nil || len(req.Tools) == 0 || !s.MustCall && s.CallTool == "" {
		return
	}
	c.Raw(`"toolConfig":{"functionCallingConfig":{"mode":"ANY"`)
	if s.CallTool != "" {
		c.String(`,"allowedFunctionNames":[`, s.CallTool).Raw("]")
	}
	c.Raw("}},")
}

package bedrock

import (
	"chela"
	"chela/internal/model/provider"
)

// Parameters returns the parameters of the Converse protocol, for
// [provider.Parameters]. A format must have a schema.
func Parameters() []provider.Parameter {
	return []provider.Parameter{
		provider.ParameterTemperature, provider.ParameterTopP, provider.ParameterStop, provider.ParameterToolChoice, provider.ParameterJSONSchema, provider.ParameterFormatWithTools,
	}
}

type toolChoice struct {
	Any  *struct{} `json:"any,omitempty"`
	Tool *toolName `json:"tool,omitempty"`
}

type toolName struct {
	Name string `json:"name"`
}

type outputConfig struct {
	TextFormat textFormat `json:"textFormat"`
}

type textFormat struct {
	Type      string `json:"type"`
	Structure struct {
		Schema jsonSchema `json:"jsonSchema"`
	} `json:"structure"`
}

type jsonSchema struct {
	Schema      string `json:"schema"` // as a string
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
}

// sample sets the sampling parameters.
func (r *request) sample(s *chela.Sampling) {
	if s == nil {
		return
	}
	if s.Temperature != nil || s.TopP != nil || len(s.Stop) > 0 {
		if r.Inference == nil {
			r.Inference = &inference{}
		}
		r.Inference.Temperature, r.Inference.TopP, r.Inference.Stop = s.Temperature, s.TopP, s.Stop
	}
	switch {
	case r.Tools == nil:
	case s.CallTool != "":
		r.Tools.Choice = &toolChoice{Tool: &toolName{s.CallTool}}
	case s.MustCall:
		r.Tools.Choice = &toolChoice{Any: &struct{}{}}
	}
	if f := s.Format; f != nil {
		r.Output = &outputConfig{textFormat{Type: "json_schema"}}
		r.Output.TextFormat.Structure.Schema = jsonSchema{string(f.Schema), f.Name, f.Description}
	}
}

package responses

import (
	"encoding/json"

	"chela"
	"chela/internal/model/provider"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/wire"
)

// Parameters returns the parameters of Responses, for [provider.Parameters]. It
// has no stop sequences, penalties or seed.
func Parameters() []provider.Parameter {
	return []provider.Parameter{
		provider.ParameterTemperature, provider.ParameterTopP, provider.ParameterVerbosity, provider.ParameterToolChoice, provider.ParameterSingleCall, provider.ParameterMaxToolCalls,
		provider.ParameterJSONObject, provider.ParameterJSONSchema, provider.ParameterFormatWithTools,
	}
}

// sampling is the sampling part of a request.
type sampling struct {
	Temperature   *float64 `json:"temperature,omitempty"`
	TopP          *float64 `json:"top_p,omitempty"`
	ToolChoice    any      `json:"tool_choice,omitempty"`
	ParallelCalls *bool    `json:"parallel_tool_calls,omitempty"`
	MaxToolCalls  *int     `json:"max_tool_calls,omitempty"`
	Text          *text    `json:"text,omitempty"`
}

type text struct {
	Verbosity string  `json:"verbosity,omitempty"`
	Format    *format `json:"format,omitempty"`
}

type format struct {
	Type        string          `json:"type"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Strict      *bool           `json:"strict,omitempty"` // the server's default is true
}

type namedTool struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// appendSampling appends the fields of s, each preceded by a comma.
func appendSampling(j *wire.JSON, s *chela.Sampling) {
	if s == nil {
		return
	}
	out := sampling{Temperature: s.Temperature, TopP: s.TopP, ParallelCalls: openai.ParallelToolCalls(s), MaxToolCalls: s.MaxToolCalls}
	switch {
	case s.CallTool != "":
		out.ToolChoice = namedTool{"function", s.CallTool}
	case s.MustCall:
		out.ToolChoice = "required"
	}
	if s.Format != nil || s.Verbosity != "" {
		out.Text = &text{Verbosity: s.Verbosity, Format: formatOf(s.Format)}
	}
	j.Members(out)
}

func formatOf(f *chela.Format) *format {
	made := openai.FormatOf(f)
	switch {
	case made == nil:
		return nil
	case made.Schema == nil:
		return &format{Type: made.Type}
	default:
		return &format{made.Type, made.Schema.Name, made.Schema.Description, made.Schema.Schema, &made.Schema.Strict}
	}
}

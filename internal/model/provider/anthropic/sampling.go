package anthropic

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"chela"
	"chela/internal/model/provider"
)

// Parameters returns the parameters of the Messages protocol, for
// [provider.Parameters]. A format must have a schema.
func Parameters() []provider.Parameter {
	return []provider.Parameter{
		provider.ParameterTemperature, provider.ParameterTopP, provider.ParameterTopK, provider.ParameterStop, provider.ParameterToolChoice, provider.ParameterSingleCall,
		provider.ParameterJSONSchema, provider.ParameterFormatWithTools,
	}
}

// sample sets the sampling parameters.
func (p *Provider) sample(params *anthropic.MessageNewParams, s *chela.Sampling) error {
	if s == nil {
		return nil
	}
	params.Temperature, params.TopP, params.TopK = optional(s.Temperature), optional(s.TopP), optional(s.TopK)
	params.StopSequences = s.Stop
	if len(params.Tools) > 0 {
		params.ToolChoice = toolChoice(s)
	}
	if s.Format == nil {
		return nil
	}
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(s.Format.Schema, &schema); err != nil {
		return p.guard.Unsent(chela.Invalid, "the schema of the answer is not a JSON object")
	}
	params.OutputConfig.Format.Schema = members(schema)
	return nil
}

func optional[T comparable](value *T) (o param.Opt[T]) {
	if value != nil {
		o = param.NewOpt(*value)
	}
	return o
}

func toolChoice(s *chela.Sampling) (c anthropic.ToolChoiceUnionParam) {
	var single param.Opt[bool]
	if s.SingleCall {
		single = anthropic.Bool(true)
	}
	switch {
	case s.CallTool != "":
		c.OfTool = &anthropic.ToolChoiceToolParam{Name: s.CallTool, DisableParallelToolUse: single}
	case s.MustCall:
		c.OfAny = &anthropic.ToolChoiceAnyParam{DisableParallelToolUse: single}
	case s.SingleCall:
		c.OfAuto = &anthropic.ToolChoiceAutoParam{DisableParallelToolUse: single}
	}
	return c
}

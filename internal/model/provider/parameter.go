package provider

// This part of the package names the parameters of [chela.Sampling], so that
// providers can list the parameters of their protocols.

import (
	"slices"

	"chela"
)

// A Parameter names a parameter, by its name in OpenAI's API if it has one.
type Parameter string

// The parameters. FormatWithTools is a format in a request that offers tools;
// some protocols support each of them but not both together.
const (
	ParameterTemperature      Parameter = "temperature"
	ParameterTopP             Parameter = "top_p"
	ParameterTopK             Parameter = "top_k"
	ParameterPresencePenalty  Parameter = "presence_penalty"
	ParameterFrequencyPenalty Parameter = "frequency_penalty"
	ParameterLogitBias        Parameter = "logit_bias"
	ParameterSeed             Parameter = "seed"
	ParameterVerbosity        Parameter = "verbosity"
	ParameterStop             Parameter = "stop"
	ParameterChoices          Parameter = "n"
	ParameterLogprobs         Parameter = "logprobs"
	ParameterToolChoice       Parameter = "tool_choice"
	ParameterSingleCall       Parameter = "parallel_tool_calls"
	ParameterMaxToolCalls     Parameter = "max_tool_calls"
	ParameterJSONObject       Parameter = "response_format json_object"
	ParameterJSONSchema       Parameter = "response_format json_schema"
	ParameterFormatWithTools  Parameter = "response_format with tools"
)

// AllParameters returns all parameters.
func AllParameters() []Parameter {
	return []Parameter{
		ParameterTemperature, ParameterTopP, ParameterTopK, ParameterPresencePenalty, ParameterFrequencyPenalty, ParameterLogitBias, ParameterSeed, ParameterVerbosity,
		ParameterStop, ParameterChoices, ParameterLogprobs, ParameterToolChoice, ParameterSingleCall, ParameterMaxToolCalls, ParameterJSONObject, ParameterJSONSchema, ParameterFormatWithTools,
	}
}

// ParametersOf returns the parameters that s sets, for a request with or without tools; none if
// s is nil.
func ParametersOf(s *chela.Sampling, tools bool) []Parameter {
	if s == nil {
		return nil
	}
	format := s.Format
	var set []Parameter
	for _, p := range []struct {
		name Parameter
		set  bool
	}{
		{ParameterTemperature, s.Temperature != nil},
		{ParameterTopP, s.TopP != nil},
		{ParameterTopK, s.TopK != nil},
		{ParameterPresencePenalty, s.PresencePenalty != nil},
		{ParameterFrequencyPenalty, s.FrequencyPenalty != nil},
		{ParameterLogitBias, len(s.LogitBias) > 0},
		{ParameterSeed, s.Seed != nil},
		{ParameterVerbosity, s.Verbosity != ""},
		{ParameterStop, len(s.Stop) > 0},
		{ParameterChoices, s.Choices > 1},
		{ParameterLogprobs, s.TopLogprobs != nil},
		{ParameterToolChoice, s.MustCall || s.CallTool != ""},
		{ParameterSingleCall, s.SingleCall},
		{ParameterMaxToolCalls, s.MaxToolCalls != nil},
		{ParameterJSONObject, format != nil && len(format.Schema) == 0},
		{ParameterJSONSchema, format != nil && len(format.Schema) > 0},
		{ParameterFormatWithTools, format != nil && tools},
	} {
		if p.set {
			set = append(set, p.name)
		}
	}
	return set
}

// LackingParameters returns the parameters of set that are not in known.
func LackingParameters(known, set []Parameter) []Parameter {
	return slices.DeleteFunc(slices.Clone(set), func(n Parameter) bool { return slices.Contains(known, n) })
}

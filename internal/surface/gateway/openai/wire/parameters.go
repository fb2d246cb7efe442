package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"chela"
	"chela/internal/model/provider"
)

// parameters are the fields of [chela.Sampling] that both forms have alike.
type parameters struct {
	Temperature      *float64        `json:"temperature"`
	TopP             *float64        `json:"top_p"`
	TopK             *int64          `json:"top_k"` // not OpenAI's; other providers have it
	PresencePenalty  *float64        `json:"presence_penalty"`
	FrequencyPenalty *float64        `json:"frequency_penalty"`
	LogitBias        json.RawMessage `json:"logit_bias"`
	Seed             *int64          `json:"seed"`
	Verbosity        string          `json:"verbosity"`
	ParallelCalls    *bool           `json:"parallel_tool_calls"`
	MaxToolCalls     *int            `json:"max_tool_calls"`
	Stop             json.RawMessage `json:"stop"`
}

// set checks the parameters and puts them into the sampling of q.
func (p *parameters) set(q *Request) error {
	for _, f := range []struct {
		value     *float64
		name      string
		low, high float64
	}{
		{p.Temperature, "temperature", 0, 2},
		{p.TopP, "top_p", 0, 1},
		{p.PresencePenalty, "presence_penalty", -2, 2},
		{p.FrequencyPenalty, "frequency_penalty", -2, 2},
	} {
		if f.value != nil && (*f.value < f.low || *f.value > f.high) {
			return Wrong(f.name, fmt.Sprintf("must be between %g and %g", f.low, f.high))
		}
	}
	switch {
	case p.TopK != nil && *p.TopK < 1:
		return Wrong("top_k", "must be at least 1")
	case p.MaxToolCalls != nil && *p.MaxToolCalls < 1:
		return Wrong("max_tool_calls", "must be at least 1")
	}
	q.Sampling = chela.Sampling{
		Temperature: p.Temperature, TopP: p.TopP, TopK: p.TopK, PresencePenalty: p.PresencePenalty, FrequencyPenalty: p.FrequencyPenalty,
		Seed: p.Seed, MaxToolCalls: p.MaxToolCalls, SingleCall: p.ParallelCalls != nil && !*p.ParallelCalls,
	}
	return cmp.Or(q.setBias(p.LogitBias), q.setVerbosity("verbosity", p.Verbosity), q.setStop(p.Stop))
}

// Field returns the field of the request that sets a parameter.
func (q *Request) Field(p provider.Parameter) string { return cmp.Or(q.fields[p], string(p)) }

// name notes the field of some parameters, where it has another name than they.
func (q *Request) name(field string, set ...provider.Parameter) {
	if q.fields == nil {
		q.fields = map[provider.Parameter]string{}
	}
	for _, p := range set {
		q.fields[p] = field
	}
}

// setBias sets the bias of tokens; an empty one is none.
func (q *Request) setBias(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	var biases map[string]float64
	if json.Unmarshal(raw, &biases) != nil {
		return Wrong("logit_bias", "must be an object of numbers")
	}
	if len(biases) > 0 {
		q.Sampling.LogitBias = raw
	}
	return nil
}

func (q *Request) setVerbosity(field, word string) error {
	switch word {
	case "":
	case "low", "medium", "high":
		q.Sampling.Verbosity = word
		q.name(field, provider.ParameterVerbosity)
	default:
		return Wrong(field, "must be low, medium or high")
	}
	return nil
}

// maxStops is how many stop sequences there may be.
const maxStops = 4

// setStop sets the sequences before which an answer ends: one text, or a list.
func (q *Request) setStop(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	var one string
	var list []string
	if json.Unmarshal(raw, &one) == nil {
		list = []string{one}
	} else if json.Unmarshal(raw, &list) != nil {
		return Wrong("stop", "must be a text or a list of texts")
	}
	if len(list) > maxStops || slices.Contains(list, "") {
		return Wrong("stop", fmt.Sprintf("must be up to %d texts that are not empty", maxStops))
	}
	q.Sampling.Stop = list
	return nil
}

// setFormat sets the form of the answer.
func (q *Request) setFormat(field, kind string, s chela.Format) error {
	switch kind {
	case "", "text":
		return nil
	case "json_object":
		q.Sampling.Format = &chela.Format{}
	case "json_schema":
		if !functionName().MatchString(s.Name) {
			return Wrong(field, "the schema needs a name of 1 to 64 letters, digits, _ and -")
		}
		if isNull(s.Schema) || s.Schema[0] != '{' {
			return Wrong(field, "the schema must be a JSON Schema, an object")
		}
		q.Sampling.Format = &s
	default:
		return Unsupported(field, fmt.Sprintf("%.40q is no form of an answer; use text, json_object or json_schema", kind))
	}
	q.name(field, provider.ParameterJSONObject, provider.ParameterJSONSchema, provider.ParameterFormatWithTools)
	return nil
}

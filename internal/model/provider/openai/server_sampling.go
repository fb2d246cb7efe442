package openai

import (
	"encoding/json"

	"chela"
)

// A Format is the response format, as both protocols name it. Responses has the
// schema's members in the format itself, Chat Completions one level down.
type Format struct {
	Type   string  `json:"type"`
	Schema *Schema `json:"json_schema,omitempty"`
}

// A Schema is a JSON Schema with a name.
type Schema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	Strict      bool            `json:"strict,omitempty"`
}

// FormatOf returns the format of a request, or nil.
func FormatOf(f *chela.Format) *Format {
	switch {
	case f == nil:
		return nil
	case len(f.Schema) == 0:
		return &Format{Type: "json_object"}
	default:
		return &Format{Type: "json_schema", Schema: &Schema{f.Name, f.Description, f.Schema, f.Strict}}
	}
}

// ParallelToolCalls returns false if s requests single calls, which turns parallel_tool_calls
// off; nil keeps the server's default.
func ParallelToolCalls(s *chela.Sampling) *bool {
	if !s.SingleCall {
		return nil
	}
	return new(bool)
}

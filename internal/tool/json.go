package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"chela"
)

type jsonInput struct {
	Operation string `json:"operation" jsonschema:"the task" enum:"parse,query,stringify,validate"`
	Data      any    `json:"data" jsonschema:"the JSON, as a value or as text"`
	Path      string `json:"path,omitempty" jsonschema:"query: the path, such as items[0].name, items[*].name or /items/0/name"`
	Indent    int    `json:"indent,omitempty" jsonschema:"stringify: spaces for each level; 0, the default, writes one line" min:"0" max:"8"`
	Schema    any    `json:"schema,omitempty" jsonschema:"validate: the JSON Schema, as a value or as text"`
}

// JSON returns the tool that parses, queries, formats and validates JSON.
func JSON() chela.Tool { return pure("json", answerJSON) }

// answerJSON performs an operation; its error is written for the model.
func answerJSON(in jsonInput) (string, error) {
	switch in.Operation {
	case "parse":
		text, ok := in.Data.(string)
		if !ok {
			return jsonText(in.Data, 2), nil
		}
		v, err := readJSON(text)
		if err != nil {
			return "", err
		}
		return jsonText(v, 2), nil
	case "query":
		return queryText(value(in.Data), in.Path)
	case "stringify":
		return jsonText(in.Data, in.Indent), nil
	default: // only validate remains: the schema allows no other
		return validateText(in)
	}
}

func validateText(in jsonInput) (string, error) {
	if in.Schema == nil {
		return "", errors.New("schema: missing; validate needs a JSON Schema")
	}
	schema := []byte(jsonText(value(in.Schema), 0))
	problems, err := Validate(schema, []byte(jsonText(value(in.Data), 0)))
	if err != nil {
		return "", err
	}
	if len(problems) == 0 {
		return "valid", nil
	}
	return "not valid:\n- " + strings.Join(problems, "\n- "), nil
}

// value returns the JSON in v if v is text that contains JSON, else v.
func value(v any) any {
	if text, ok := v.(string); ok {
		if inner, err := readJSON(text); err == nil {
			return inner
		}
	}
	return v
}

// readJSON reads one JSON value; its error tells line and column.
func readJSON(text string) (any, error) {
	v, at, err := decodeNext([]byte(text))
	if err == nil {
		return v, nil
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset
	}
	before := text[:min(max(at-1, 0), int64(len(text)))]
	line := strings.Count(before, "\n") + 1
	column := len(before) - strings.LastIndex(before, "\n")
	return nil, fmt.Errorf("not JSON: line %d, column %d: %w", line, column, err)
}

// jsonText writes v with sorted keys and numbers as they came.
func jsonText(v any, indent int) string { return string(encode(v, indent)) }

// queryText returns the result of path in v: one value, or a list if path has a
// *.
func queryText(v any, path string) (string, error) {
	steps, err := parsePath(path)
	if err != nil {
		return "", fmt.Errorf("path: %w", err)
	}
	found := []any{v}
	many := false
	for i, s := range steps {
		var next []any
		for _, v := range found {
			picked, err := s.pick(v)
			if err != nil && !many {
				return "", fmt.Errorf("path: %s: %w", pathText(steps[:i+1]), err)
			}
			next = append(next, picked...) // under a *, items without the key are skipped
		}
		many = many || s.all
		found = next
	}
	if many {
		if found == nil {
			found = []any{}
		}
		return jsonText(found, 2), nil
	}
	if text, ok := found[0].(string); ok {
		return text, nil
	}
	return jsonText(found[0], 2), nil
}

// keysOf names the keys of an object for an error.
func keysOf(object map[string]any) string {
	const most = 20
	keys := slices.Sorted(maps.Keys(object))
	if len(keys) == 0 {
		return "the object is empty"
	}
	if len(keys) > most {
		return "there are " + strings.Join(keys[:most], ", ") + fmt.Sprintf(" and %d more", len(keys)-most)
	}
	return "there are " + strings.Join(keys, ", ")
}

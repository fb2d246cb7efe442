package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"chela"
	"chela/internal/platform/lazyregexp"
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

// A step leads from a value to one below it.
type step struct {
	key   string
	all   bool // *: every item or value
	exact bool // the key was quoted, so it is not an index
}

// pathText formats steps as a path.
func pathText(steps []step) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, s := range steps {
		_, err := strconv.Atoi(s.key)
		switch {
		case s.all:
			b.WriteString("[*]")
		case err == nil && !s.exact:
			b.WriteString("[" + s.key + "]")
		default:
			b.WriteString("." + s.key)
		}
	}
	return b.String()
}

// pick returns the value at s in v.
func (s step) pick(v any) ([]any, error) {
	switch v := v.(type) {
	case map[string]any:
		if s.all {
			var found []any
			for _, key := range slices.Sorted(maps.Keys(v)) {
				found = append(found, v[key])
			}
			return found, nil
		}
		item, ok := v[s.key]
		if !ok {
			return nil, fmt.Errorf("no such key; %s", keysOf(v))
		}
		return []any{item}, nil
	case []any:
		if s.all {
			return v, nil
		}
		i, err := strconv.Atoi(s.key)
		if err != nil || s.exact {
			return nil, fmt.Errorf("an array of %d items has no key; use an index or *", len(v))
		}
		if i < 0 {
			i += len(v)
		}
		if i < 0 || i >= len(v) {
			return nil, fmt.Errorf("no such item; the array has %d", len(v))
		}
		return []any{v[i]}, nil
	default:
		return nil, fmt.Errorf("there is nothing under %.60s", jsonText(v, 0))
	}
}

// pathStep matches the first step of a path: a key, * or an index in brackets, or a
// quoted key.
var pathStep = lazyregexp.New(`(?s)^(?:\.([^.\[]+)|\[([-+]?\d{1,18}|\*)\]|\['(.*?)'\]|\["(.*?)"\])`)

// parsePath reads a JSON pointer (RFC 6901) if it begins with a slash, else a
// path of keys and indexes: $.a.b[0]['c d'][*].
func parsePath(path string) (steps []step, err error) {
	if pointer, ok := strings.CutPrefix(path, "/"); ok {
		for part := range strings.SplitSeq(pointer, "/") {
			steps = append(steps, step{key: strings.NewReplacer("~1", "/", "~0", "~").Replace(part)})
		}
		return steps, nil
	}
	rest := strings.TrimPrefix(path, "$")
	if rest == path && rest != "" && rest[0] != '[' {
		rest = "." + rest
	}
	for rest != "" {
		m := pathStep().FindStringSubmatch(rest)
		if m == nil {
			return nil, misstep(rest)
		}
		key := m[1] + m[2] + m[3] + m[4] // only one is not empty
		exact := rest[0] == '[' && m[2] == ""
		steps = append(steps, step{key: key, all: key == "*" && !exact, exact: exact})
		rest = rest[len(m[0]):]
	}
	return steps, nil
}

// misstep tells what is wrong at the beginning of the rest of a path.
func misstep(rest string) error {
	key, _, closed := strings.Cut(rest[1:], "]")
	switch {
	case strings.HasPrefix(rest, ".."):
		return errors.New("a path cannot have ..; name every key on the way, or use *")
	case rest[0] == '.':
		return errors.New("a key is missing after a dot")
	case rest[0] != '[':
		return fmt.Errorf("unexpected %.20q; write keys as .key and indexes as [0]", rest)
	case strings.HasPrefix(key, "'") || strings.HasPrefix(key, `"`):
		return errors.New("a quote or ] is missing")
	case !closed:
		return errors.New("a ] is missing")
	default:
		return fmt.Errorf("[%.40s] is no index; quote keys as ['key']", key)
	}
}

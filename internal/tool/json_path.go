package tool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

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

// parsePath reads a JSON pointer (RFC 6901) if it begins with a slash, else a
// path of keys and indexes: $.a.b[0]['c d'][*].
func parsePath(path string) ([]step, error) {
	if strings.HasPrefix(path, "/") {
		return parsePointer(path), nil
	}
	rest := strings.TrimPrefix(path, "$")
	if rest == path && rest != "" && rest[0] != '[' {
		rest = "." + rest
	}
	var steps []step
	for rest != "" {
		var s step
		var err error
		switch {
		case strings.HasPrefix(rest, ".."):
			return nil, errors.New("a path cannot have ..; name every key on the way, or use *")
		case rest[0] == '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			s, rest = step{key: rest[:end], all: rest[:end] == "*"}, rest[end:]
			if s.key == "" {
				return nil, errors.New("a key is missing after a dot")
			}
		case rest[0] == '[':
			s, rest, err = parseBracket(rest)
		default:
			err = fmt.Errorf("unexpected %.20q; write keys as .key and indexes as [0]", rest)
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func parsePointer(path string) []step {
	var steps []step
	for part := range strings.SplitSeq(path[1:], "/") {
		key := strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		steps = append(steps, step{key: key})
	}
	return steps
}

// parseBracket reads [0], [-1], [*], ['key'] or ["key"] at the start of text.
func parseBracket(text string) (s step, rest string, err error) {
	inner := text[1:]
	if inner != "" && (inner[0] == '\'' || inner[0] == '"') {
		end := strings.Index(inner[1:], string(inner[0])+"]")
		if end < 0 {
			return step{}, "", errors.New("a quote or ] is missing")
		}
		return step{key: inner[1 : end+1], exact: true}, inner[end+3:], nil
	}
	key, rest, found := strings.Cut(inner, "]")
	if !found {
		return step{}, "", errors.New("a ] is missing")
	}
	if key == "*" {
		return step{all: true}, rest, nil
	}
	if _, err := strconv.Atoi(key); err != nil {
		return step{}, "", fmt.Errorf("[%.40s] is no index; quote keys as ['key']", key)
	}
	return step{key: key}, rest, nil
}

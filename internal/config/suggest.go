package config

import (
	"maps"
	"slices"
	"strings"

	"chela"
	"chela/internal/platform/nearest"
)

// suggestKey is suggest for a key. A section gets the hint to name one of its keys.
func suggestKey(e *chela.Error, key string, keys []string, otherwise string) error {
	near := nearest.Keys(key, keys)
	below := slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, key+".") })
	switch last := len(near) - 1; {
	case below:
		return e.WithHint("it is a section: name one of its keys, which chela config list shows")
	case last < 0:
		return e.WithHint(otherwise)
	case last == 0:
		return e.WithHint("did you mean " + near[0] + "?")
	default:
		return e.WithHint("did you mean " + strings.Join(near[:last], ", ") + " or " + near[last] + "?")
	}
}

// suggest returns a did-you-mean hint with the candidate closest to word, or
// else the fallback hint.
func suggest(e *chela.Error, word string, candidates []string, otherwise string) error {
	if near := nearest.Name(word, candidates); near != "" {
		return e.WithHint("did you mean " + near + "?")
	}
	return e.WithHint(otherwise)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

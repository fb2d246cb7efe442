package config

import (
	"maps"
	"slices"

	"chela"
	"chela/internal/platform/nearest"
)

// suggest returns a did-you-mean hint with the candidate closest to word, or
// else the fallback hint.
func suggest(e *chela.Error, word string, candidates []string, otherwise string) error {
	if near := nearest.Name(word, candidates); near != "" {
		return e.WithHint("did you mean " + near + "?")
	}
	return e.WithHint(otherwise)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

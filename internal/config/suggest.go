package config

import (
	"maps"
	"slices"

	"chela"
	"chela/internal/nearest"
)

// suggest hints at the candidate that was probably meant by word, else at
// what otherwise helps.
func suggest(e *chela.Error, word string, candidates []string, otherwise string) error {
	if near := nearest.Name(word, candidates); near != "" {
		return e.WithHint("did you mean " + near + "?")
	}
	return e.WithHint(otherwise)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package config

import (
	"maps"
	"slices"

	"chela"
)

// nearest returns the candidate that is most like word, or "" if none is close
// enough to have been meant: a third of its letters may differ.
func nearest(word string, candidates []string) string {
	best, least := "", len(word)/3+1
	if len(word) > 100 {
		return ""
	}
	for _, c := range candidates {
		if d := distance(word, c); d < least || d == least && best == "" {
			best, least = c, d
		}
	}
	return best
}

// suggest hints at the candidate that was probably meant by word, else at
// what otherwise helps.
func suggest(e *chela.Error, word string, candidates []string, otherwise string) error {
	if near := nearest(word, candidates); near != "" {
		return e.WithHint("did you mean " + near + "?")
	}
	return e.WithHint(otherwise)
}

// distance is the number of single-byte insertions, deletions and
// substitutions between a and b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

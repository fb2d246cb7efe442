package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// maxKeys is the most keys that are suggested at once.
const maxKeys = 3

// Keys returns the dotted keys that key may stand for: those that are equally close to
// it, up to three. The last part counts most, because people forget or abbreviate the
// section; a last part that contains all words of another one is close to it, as in
// "key" and "api_key".
func Keys(key string, keys []string) []string {
	if key == "" || len(key) > longest {
		return nil
	}
	best, found := far, []string(nil)
	for _, k := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		switch d := keyDistance(strings.ToLower(key), strings.ToLower(k)); {
		case d < best:
			best, found = d, []string{k}
		case d == best && d < far:
			found = append(found, k)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	return found[:min(len(found), maxKeys)]
}

// far is the distance of keys that have nothing to do with each other.
const far = 1000

// keyDistance compares keys part by part, and as wholes without their separators.
func keyDistance(a, b string) int {
	whole := 10 * Distance(plain(a), plain(b))
	if whole > 10*len(plain(a))/3 {
		whole = far
	}
	sectionA, lastA := cutLast(a)
	sectionB, lastB := cutLast(b)
	parts := partDistance(lastA, lastB)
	switch section := sectionDistance(sectionA, sectionB); {
	case lastB == "" || parts == far || section == far:
		parts = far
	default:
		parts += section
	}
	if first, _, dotted := strings.Cut(a, "."); dotted && first == b {
		parts = min(parts, 45) // the setting has no keys of its own
	}
	return min(whole, parts)
}

// sectionDistance compares what precedes the last parts of two keys.
func sectionDistance(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "", strings.HasSuffix(b, "."+a):
		return 2
	default:
		return partDistance(a, b)
	}
}

// partDistance compares single parts of keys: words that are missing from a count
// less than letters that differ.
func partDistance(a, b string) int {
	if a == b {
		return 0
	}
	wordsA, wordsB := strings.Split(a, "_"), strings.Split(b, "_")
	inB := func(w string) bool { return slices.Contains(wordsB, w) }
	if len(wordsA) < len(wordsB) && !slices.ContainsFunc(wordsA, func(w string) bool { return !inB(w) }) {
		return 3 + len(wordsB) - len(wordsA)
	}
	if d := Distance(a, b); d <= len(a)/3+1 {
		return 10 * d
	}
	if len(a) >= 2 && (strings.HasPrefix(b, a) || strings.HasPrefix(a, b) && len(b) > 2) {
		return 20 + len(b)
	}
	return far
}

// cutLast splits a key before its last part.
func cutLast(key string) (section, last string) {
	i := strings.LastIndexByte(key, '.')
	return key[:max(i, 0)], key[i+1:]
}

// plain is a key without its separators.
func plain(key string) string { return strings.NewReplacer(".", "", "_", "", "-", "").Replace(key) }

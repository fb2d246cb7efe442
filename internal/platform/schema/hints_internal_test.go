package schema

import "testing"

// TestHints: each pattern has exactly one hint, so that the same value is always
// refused with the same words.
func TestHints(t *testing.T) {
	t.Parallel()
	owner := map[string]string{} // names of hints, by pattern
	for name := range hints {
		pattern, ok := patterns[name]
		if !ok {
			t.Errorf("the hint %s belongs to no pattern", name)
		}
		if other := owner[pattern]; other != "" {
			t.Errorf("%s and %s are the same pattern with two hints", name, other)
		}
		owner[pattern] = name
	}
	for name, pattern := range patterns {
		if owner[pattern] == "" {
			t.Errorf("the pattern %s has no hint", name)
		}
	}
}

package leak

import (
	"strings"
	"testing"
)

// CompileAll compiles all rules and returns their number.
func CompileAll(t *testing.T) int {
	t.Helper()
	for _, r := range rules() {
		r.compiled()
		for _, k := range r.Keywords {
			if k == "" || k != strings.ToLower(k) {
				t.Errorf("rule %s: keyword %q", r.ID, k)
			}
		}
	}
	return len(rules())
}

package app

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/api"
)

// TestOperationsAreBound compares the operations that are defined with those that a
// home binds.
func TestOperationsAreBound(t *testing.T) {
	t.Parallel()
	var defined, bound []string
	for _, o := range api.Operations() {
		defined = append(defined, o.Name)
	}
	for _, b := range stayingHome(t, "turns: []").operations {
		bound = append(bound, b.Name)
	}
	slices.Sort(defined)
	slices.Sort(bound)
	if diff := cmp.Diff(defined, bound); diff != "" {
		t.Errorf("operations (-defined +bound)\n%s", diff)
	}
}

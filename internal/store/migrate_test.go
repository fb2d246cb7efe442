package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/store"
)

// TestMigrations: steps are numbered from 1 without a gap, and both databases
// take the same ones, so that a note in one means the same in the other.
func TestMigrations(t *testing.T) {
	t.Parallel()
	lite, err := store.Migrations(sqlite.name)
	if err != nil {
		t.Fatal(err)
	}
	pg, err := store.Migrations(postgres.name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lite, pg); diff != "" {
		t.Errorf("steps (-sqlite +postgres)\n%s", diff)
	}
	if !slices.IsSorted(lite) {
		t.Errorf("steps are not sorted: %q", lite)
	}
	for i, name := range lite {
		if !strings.HasPrefix(name, fmt.Sprintf("%04d_", i+1)) {
			t.Errorf("step %d is named %s", i+1, name)
		}
	}
}

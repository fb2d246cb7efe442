package store_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// steps returns the names of the steps that a database takes, in order.
func steps(t testing.TB, d database) []string {
	t.Helper()
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	var names []string
	for _, file := range files {
		name, of, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".sql"), ".")
		if of == "" || of == d.name {
			names = append(names, name)
		}
	}
	return names
}

// TestMigrations: steps are numbered from 1 without a gap, and both databases
// take the same ones, so that a note in one means the same in the other.
func TestMigrations(t *testing.T) {
	t.Parallel()
	for i, name := range steps(t, sqlite) {
		if !strings.HasPrefix(name, fmt.Sprintf("%04d_", i+1)) {
			t.Errorf("step %d is named %s", i+1, name)
		}
	}
	each(t, func(t *testing.T, d database) {
		place := d.place(t)
		open(t, place)
		rows, err := d.raw(t, place).QueryContext(t.Context(), "select name from migrations order by name")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var noted []string
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				t.Fatal(err)
			}
			noted = append(noted, name)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(steps(t, d), noted); diff != "" {
			t.Errorf("steps that are noted (-files +database)\n%s", diff)
		}
		if diff := cmp.Diff(steps(t, sqlite), noted); diff != "" {
			t.Errorf("steps (-sqlite +%s)\n%s", d.name, diff)
		}
	})
}

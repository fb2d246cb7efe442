//go:build failpoint

package store_test

import (
	"strings"
	"testing"

	"chela/internal/platform/pgtest"
	"chela/internal/store"
)

// run lets a child process with failpoints write to place until it ends, and
// returns how many rows it said that it had written.
func run(t *testing.T, place store.Config, failpoints string) int {
	t.Helper()
	cmd, lines := writer(t, place, howMany+"=1", "CHELA_FAILPOINTS="+failpoints)
	told := 0
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "wrote ") {
			told++
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Errorf("%s: nothing happened", failpoints)
	}
	return told
}

// TestFailpoints breaks the third transaction at every place, by an error and
// by a kill. Until its commit nothing of it is there; after that it is, though
// nobody was told.
func TestFailpoints(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		for _, action := range []string{"error", "kill"} {
			for point, rows := range map[string]int{"test.begin@3": 2, "test.commit@3": 2, "test.done@3": 3} {
				t.Run(point+"="+action, func(t *testing.T) {
					t.Parallel()
					place := d.place(t)
					told := run(t, place, point+"="+action)
					if there := len(keys(t, open(t, place))); told != 2 || there != rows {
						t.Errorf("%d rows told, %d there, want 2 and %d", told, there, rows)
					}
				})
			}
		}
	})
}

// TestFailedMigrations breaks the first opening of a database at every place.
// The next one makes it whole.
func TestFailedMigrations(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		for _, action := range []string{"error", "kill"} {
			for _, point := range []string{
				"store.migrate.begin", "store.migrate.commit", "store.commit", "store.migrate.done",
				"store.migrate.begin@2", "store.migrate.commit@2", "store.commit@2", "store.migrate.done@2",
			} {
				t.Run(point+"="+action, func(t *testing.T) {
					t.Parallel()
					place := d.place(t)
					if place.URL != "" {
						place.URL = pgtest.URL(t) // that one has tables
					}
					if told := run(t, place, point+"="+action); told != 0 {
						t.Errorf("%d rows were written", told)
					}
					s := open(t, place)
					if err := s.Write(t.Context(), "test", create("a")); err != nil {
						t.Error(err)
					}
					wantKeys(t, s, "a")
				})
			}
		}
	})
}

// TestFailedCommitIsTold fails the commit itself, which every engine has to
// undo.
func TestFailedCommitIsTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d database) {
		place := d.place(t)
		if err := open(t, place).Close(); err != nil {
			t.Fatal(err)
		}
		for round := 1; round <= 2; round++ {
			told := run(t, place, "store.commit@3=error")
			if there := len(keys(t, open(t, place))); told != 2 || there != 2*round {
				t.Errorf("round %d: %d rows told, %d there, want 2 and %d", round, told, there, 2*round)
			}
		}
	})
}

package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/store"
	"chela/internal/store/engine"
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

// TestMigrations: steps have numbers that only grow, and both databases
// take the same ones, so that a note in one means the same in the other.
func TestMigrations(t *testing.T) {
	t.Parallel()
	last := 0
	for _, name := range steps(t, sqlite) {
		number, _, _ := strings.Cut(name, "_")
		n, err := strconv.Atoi(number)
		if err != nil || len(number) != 4 || n <= last {
			t.Errorf("step %s comes behind number %d: %v", name, last, err)
		}
		last = n
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

// TestCostBeforeTheLedgerIsGuessed: of rows that an older chela wrote nobody knows
// what they cost, and they say so. The step does the same in PostgreSQL.
func TestCostBeforeTheLedgerIsGuessed(t *testing.T) {
	t.Parallel()
	place := sqlite.place(t)
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	older := fstest.MapFS{}
	for _, file := range files {
		if filepath.Base(file) >= "0008" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		older[file] = &fstest.MapFile{Data: text}
	}
	db, err := engine.Open(t.Context(), place, older)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), "test", func(tx engine.Tx) error {
		for _, text := range []string{
			insert("sessions", nil), insert("threads", nil), insert("turns", nil),
			`insert into usage (id, session, turn, step, model, purpose, input, output, cache_read, cache_write, reasoning, created_at)
				values ('use_1', 's', 'u', 1, 'm', 'turn', 1, 2, 0, 0, 0, 0)`,
		} {
			if _, err := tx.Exec(t.Context(), text); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := read(t, open(t, place), func(ctx context.Context, r *store.Read) ([]chela.Usage, error) {
		return r.TurnUsage(ctx, chela.Turn{ID: "u", Session: "s"})
	})
	if err != nil || len(got) != 1 || got[0].State != chela.UsageSettled || !got[0].Guessed {
		t.Errorf("rows %+v, %v", got, err)
	}
}

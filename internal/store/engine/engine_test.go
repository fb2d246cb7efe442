package engine_test

import (
	"context"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/internal/store/engine"
)

// open opens a database with the schema of the store.
func open(ctx context.Context, cfg engine.Config) (*engine.Database, error) {
	return engine.Open(ctx, cfg, os.DirFS(".."))
}

// create returns a function that adds a session.
func create(key string) func(engine.Tx) error {
	return func(tx engine.Tx) error {
		return tx.Queue(context.Background(), engine.Statement{
			Text: `insert into sessions (key, agent, thread, settings, created_at, updated_at) values ($1, 'main', '', '{}', 0, 0)`,
			Args: []any{key},
		})
	}
}

// keys lists the sessions in a database.
func keys(t testing.TB, d *engine.Database) []string {
	t.Helper()
	var found []string
	err := d.Read(t.Context(), func(tx engine.Tx) error {
		return tx.Query(t.Context(), func(row engine.Row) error {
			var key string
			err := row.Scan(&key)
			found = append(found, key)
			return err
		}, "select key from sessions order by key")
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wantKeys(t testing.TB, d *engine.Database, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, keys(t, d)); diff != "" {
		t.Errorf("sessions (-want +got)\n%s", diff)
	}
}

package store

import (
	"context"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"chela"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A migration is one step of the schema. Its name is that of its file without
// the ending; "0002_x.sqlite" and "0002_x.postgres" are the same step of the
// two engines.
type migration struct {
	name string
	sql  string
}

// migrationsFor returns the steps of an engine in order.
func migrationsFor(engine string) ([]migration, error) {
	files, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".sql")
		if dialect := strings.TrimPrefix(path.Ext(name), "."); dialect != "" && dialect != engine {
			continue
		}
		text, err := migrationFiles.ReadFile("migrations/" + f.Name())
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{name: strings.TrimSuffix(name, path.Ext(name)), sql: string(text)})
	}
	return steps, nil
}

// bringUpToDate applies the steps that are missing, each in a transaction.
func (s *Store) bringUpToDate(ctx context.Context) error {
	steps, err := migrationsFor(s.Engine())
	if err != nil {
		return err
	}
	applied, err := s.applied(ctx)
	if err != nil {
		return err
	}
	known := make([]string, len(steps))
	for i, m := range steps {
		known[i] = m.name
	}
	for _, name := range applied {
		if !slices.Contains(known, name) {
			return chela.E(chela.Unsupported, fmt.Sprintf("the database was written by a newer chela (it has step %s)", name)).
				WithHint("use that version or a newer one; nothing was changed")
		}
	}
	for _, m := range steps {
		if slices.Contains(applied, m.name) {
			continue
		}
		if err := s.engine.migrate(ctx, m); err != nil {
			return fmt.Errorf("apply migration %s: %w", m.name, err)
		}
	}
	return nil
}

// applied returns the names of the steps that the database has, none if it is
// new.
func (s *Store) applied(ctx context.Context) ([]string, error) {
	var names []string
	err := s.Read(ctx, func(r *Read) error {
		var err error
		names, err = all(ctx, r, scanName, `select name from migrations order by name`)
		return err
	})
	if chela.KindOf(err) == chela.NotFound { // no such table
		return nil, nil
	}
	return names, err
}

func scanName(row scanner) (name string, err error) {
	err = row.Scan(&name)
	return name, err
}

// apply runs one step with run, unless another process has done it since the
// caller looked.
func (w *Write) apply(ctx context.Context, m migration, run func(script string) error) error {
	if err := run(`create table if not exists migrations (name text primary key)`); err != nil {
		return err
	}
	_, done, err := first(ctx, &w.Read, scanName, `select name from migrations where name = $1`, m.name)
	if err != nil || done {
		return err
	}
	if err := run(m.sql); err != nil {
		return err
	}
	return w.must(ctx, `insert into migrations (name) values ($1)`, m.name)
}

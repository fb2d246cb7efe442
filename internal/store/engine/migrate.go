package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"chela"
)

// A migration is one step of the schema. Its name is the file's without
// extension; "0002_x.sqlite" and "0002_x.postgres" are the same step for the
// two engines.
type migration struct {
	name string
	sql  string
}

// migrationsFor returns the migrations of an engine, in order.
func migrationsFor(engine string, files fs.FS) ([]migration, error) {
	found, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, file := range found {
		name := strings.TrimSuffix(path.Base(file), ".sql")
		if dialect := strings.TrimPrefix(path.Ext(name), "."); dialect != "" && dialect != engine {
			continue
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{name: strings.TrimSuffix(name, path.Ext(name)), sql: string(text)})
	}
	return steps, nil
}

// bringUpToDate applies the missing migrations, each in a transaction.
func (d *Database) bringUpToDate(ctx context.Context, files fs.FS) error {
	steps, err := migrationsFor(d.Engine(), files)
	if err != nil {
		return err
	}
	applied, err := d.applied(ctx)
	if err != nil {
		return err
	}
	known := make([]string, len(steps))
	for i, m := range steps {
		known[i] = m.name
	}
	for _, name := range applied {
		if !slices.Contains(known, name) {
			return chela.Ef(chela.Unsupported, "the database was written by a newer chela (it has migration %s)", name).
				WithHint("use that version or a newer one; the database was not changed")
		}
	}
	for _, m := range steps {
		if slices.Contains(applied, m.name) {
			continue
		}
		if err := d.engine.migrate(ctx, m); err != nil {
			return fmt.Errorf("apply migration %s: %w", m.name, err)
		}
	}
	return nil
}

// applied returns the names of the applied migrations; none for a new database.
func (d *Database) applied(ctx context.Context) (found []string, err error) {
	err = d.Read(ctx, func(tx Tx) error {
		found, err = names(ctx, tx, `select name from migrations order by name`)
		return err
	})
	if errors.Is(err, errNoTable) {
		return nil, nil
	}
	return found, err
}

// names returns the rows of a query with one text column.
func names(ctx context.Context, tx Tx, query string, args ...any) (found []string, err error) {
	err = tx.Query(ctx, func(row Row) error {
		var name string
		err := row.Scan(&name)
		found = append(found, name)
		return err
	}, query, args...)
	return found, err
}

// apply runs one migration with run, unless another process has applied it
// since the caller checked.
func (t Tx) apply(ctx context.Context, m migration, run func(script string) error) error {
	if err := run(`create table if not exists migrations (name text primary key)`); err != nil {
		return err
	}
	done, err := names(ctx, t, `select name from migrations where name = $1`, m.name)
	if err != nil || len(done) > 0 {
		return err
	}
	if err := run(m.sql); err != nil {
		return err
	}
	return t.Queue(ctx, Statement{Text: `insert into migrations (name) values ($1)`, Args: []any{m.name}})
}

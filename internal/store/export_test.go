package store

import "context"

// Exec lets tests run a statement inside a transaction.
func (w *Write) Exec(ctx context.Context, query string, args ...any) error {
	_, err := w.conn.exec(ctx, query, args...)
	return err
}

// Migrations returns the names of an engine's steps in the order in which they
// are applied.
func Migrations(engine string) ([]string, error) {
	steps, err := migrationsFor(engine)
	var names []string
	for _, m := range steps {
		names = append(names, m.name)
	}
	return names, err
}

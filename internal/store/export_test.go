package store

import (
	"context"
	"errors"
)

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

// Control lets tests run a statement on the connection that writes, outside
// transactions. Nobody may use the store meanwhile.
func Control(s *Store, statement string) error { return s.engine.(*sqlite).control(statement) }

// LeaveOpen begins a transaction on every connection, as if it could not be
// ended. Nobody may use the store meanwhile.
func LeaveOpen(s *Store) error {
	e := s.engine.(*sqlite)
	errs := []error{e.control("begin")}
	for range maxReaders {
		conn := <-e.readers
		_, err := conn.exec(context.Background(), "begin")
		errs = append(errs, err)
		e.readers <- conn
	}
	return errors.Join(errs...)
}

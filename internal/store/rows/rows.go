// Package rows reads and writes rows: how values become columns and come back,
// and what the statements of all nouns have in common.
package rows

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/store/engine"
)

// A Tx is a transaction of the engine.
type Tx struct{ engine.Tx }

// All returns every row of a query.
func All[T any](ctx context.Context, tx Tx, scan func(engine.Row) (T, error), query string, args ...any) ([]T, error) {
	var out []T
	err := tx.Query(ctx, func(row engine.Row) error {
		v, err := scan(row)
		out = append(out, v)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// First returns the only row of a query, and whether there is one.
func First[T any](ctx context.Context, tx Tx, scan func(engine.Row) (T, error), query string, args ...any) (T, bool, error) {
	var v T
	ok := false
	err := tx.Query(ctx, func(row engine.Row) (err error) {
		v, err = scan(row)
		ok = true
		return err
	}, query, args...)
	if err != nil {
		var none T
		return none, false, err
	}
	return v, ok, nil
}

// One returns the only row of a query; if there is none, the error is
// NotFound and says that what, named id, does not exist.
func One[T any](ctx context.Context, tx Tx, scan func(engine.Row) (T, error), what, id, query string, args ...any) (T, error) {
	v, ok, err := First(ctx, tx, scan, query, args...)
	if err == nil && !ok {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no %s %q", what, id))
	}
	return v, err
}

// Must queues a statement without which the transaction fails.
func (t Tx) Must(ctx context.Context, query string, args ...any) error {
	return t.Queue(ctx, engine.Statement{Text: query, Args: args})
}

// Move queues an update that is conditional on a state. If no row matches,
// somebody else decided first: the transaction fails with a Conflict.
func (t Tx) Move(ctx context.Context, what, id, query string, args ...any) error {
	unmoved := chela.E(chela.Conflict, what+" "+id+" has changed meanwhile")
	return t.Queue(ctx, engine.Statement{Text: query, Args: args, Unmoved: unmoved})
}

// Illegal is the error for a move that no table of moves allows.
func Illegal(what, id string, from, to any) error {
	return chela.E(chela.Internal, fmt.Sprintf("%s %s cannot go from %v to %v", what, id, from, to))
}

package store

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/store/engine"
)

// all returns every row of a query.
func all[T any](ctx context.Context, r *Read, scan func(engine.Row) (T, error), query string, args ...any) ([]T, error) {
	var out []T
	err := r.tx.Query(ctx, func(row engine.Row) error {
		v, err := scan(row)
		out = append(out, v)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// first returns the only row of a query, and whether there is one.
func first[T any](ctx context.Context, r *Read, scan func(engine.Row) (T, error), query string, args ...any) (T, bool, error) {
	var v T
	ok := false
	err := r.tx.Query(ctx, func(row engine.Row) (err error) {
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

// one returns the only row of a query; if there is none, the error is
// NotFound and says that what, named id, does not exist.
func one[T any](ctx context.Context, r *Read, scan func(engine.Row) (T, error), what, id, query string, args ...any) (T, error) {
	v, ok, err := first(ctx, r, scan, query, args...)
	if err == nil && !ok {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no %s %q", what, id))
	}
	return v, err
}

// must queues a statement without which the transaction fails.
func (w *Write) must(ctx context.Context, query string, args ...any) error {
	return w.tx.Queue(ctx, engine.Statement{Text: query, Args: args})
}

// move queues an update that is conditional on a state. If no row matches,
// somebody else decided first: the transaction fails with a Conflict.
func (w *Write) move(ctx context.Context, what, id, query string, args ...any) error {
	unmoved := chela.E(chela.Conflict, what+" "+id+" has changed meanwhile")
	return w.tx.Queue(ctx, engine.Statement{Text: query, Args: args, Unmoved: unmoved})
}

// illegal is the error for a move that no table of moves allows.
func illegal(what, id string, from, to any) error {
	return chela.E(chela.Internal, fmt.Sprintf("%s %s cannot go from %v to %v", what, id, from, to))
}

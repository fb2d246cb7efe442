package store

import (
	"context"
	"fmt"

	"chela"
)

// conn runs statements of one transaction. Errors are classified.
type conn interface {
	// exec runs a statement and returns how many rows it changed.
	exec(ctx context.Context, text string, args ...any) (int64, error)

	// query runs a statement and hands each of its rows to each.
	query(ctx context.Context, each func(scanner) error, text string, args ...any) error

	// queue runs a statement before any that comes later, at the latest with
	// the commit. Where that is not at once, its error is that of the statement
	// or the commit with which it was sent.
	queue(ctx context.Context, s statement) error
}

// A statement is one of which a transaction needs no more than that it worked.
type statement struct {
	text    string
	args    []any
	each    func(scanner) error // takes the row that it returns; nil if it returns none
	unmoved error               // if it found nothing to change; nil if it need not
}

// scanner is a row to be scanned.
type scanner interface{ Scan(dest ...any) error }

// all returns every row of a query.
func all[T any](ctx context.Context, r *Read, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	var out []T
	err := r.conn.query(ctx, func(row scanner) error {
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
func first[T any](ctx context.Context, r *Read, scan func(scanner) (T, error), query string, args ...any) (T, bool, error) {
	var v T
	ok := false
	err := r.conn.query(ctx, func(row scanner) (err error) {
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
func one[T any](ctx context.Context, r *Read, scan func(scanner) (T, error), what, id, query string, args ...any) (T, error) {
	v, ok, err := first(ctx, r, scan, query, args...)
	if err == nil && !ok {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no %s %q", what, id))
	}
	return v, err
}

// must queues a statement without which the transaction fails.
func (w *Write) must(ctx context.Context, query string, args ...any) error {
	return w.conn.queue(ctx, statement{text: query, args: args})
}

// move queues an update that is conditional on a state. If no row matches,
// somebody else decided first: the transaction fails with a Conflict.
func (w *Write) move(ctx context.Context, what, id, query string, args ...any) error {
	unmoved := chela.E(chela.Conflict, what+" "+id+" has changed meanwhile")
	return w.conn.queue(ctx, statement{text: query, args: args, unmoved: unmoved})
}

// illegal is the error for a move that no table of moves allows.
func illegal(what, id string, from, to any) error {
	return chela.E(chela.Internal, fmt.Sprintf("%s %s cannot go from %v to %v", what, id, from, to))
}

package store

// Mapping of rows: conversion of values to and from columns, and statements
// common to all nouns.

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/store/engine"
)

// A transaction is a transaction of the engine.
type transaction struct{ engine.Tx }

// queryAll returns every row of a query.
func queryAll[T any](ctx context.Context, tx transaction, scan func(engine.Row) (T, error), query string, args ...any) ([]T, error) {
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

// queryFirst returns the only row of a query, and whether there is one.
func queryFirst[T any](ctx context.Context, tx transaction, scan func(engine.Row) (T, error), query string, args ...any) (T, bool, error) {
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

// queryOne returns the only row of a query, or NotFound with an error that
// names what and id.
func queryOne[T any](ctx context.Context, tx transaction, scan func(engine.Row) (T, error), what, id, query string, args ...any) (T, error) {
	v, ok, err := queryFirst(ctx, tx, scan, query, args...)
	if err == nil && !ok {
		err = chela.E(chela.NotFound, fmt.Sprintf("there is no %s %q", what, id))
	}
	return v, err
}

// Must queues a statement that fails the transaction if it fails.
func (t transaction) Must(ctx context.Context, query string, args ...any) error {
	return t.Queue(ctx, engine.Statement{Text: query, Args: args})
}

// Move queues an update that is conditional on a state. If no row matches,
// another writer was first, and the transaction fails with Conflict.
func (t transaction) Move(ctx context.Context, what, id, query string, args ...any) error {
	unmoved := chela.E(chela.Conflict, what+" "+id+" was changed concurrently")
	return t.Queue(ctx, engine.Statement{Text: query, Args: args, Unmoved: unmoved})
}

// illegalMove is the error of a move that is not in the table of moves.
func illegalMove(what, id string, from, to any) error {
	return chela.E(chela.Internal, fmt.Sprintf("%s %s cannot go from %v to %v", what, id, from, to))
}

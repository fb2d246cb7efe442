package store

import (
	"context"

	"chela"
	"chela/internal/store/engine"
)

// Find is Read for a function that returns a value.
func Find[T any](ctx context.Context, s *Store, fn func(*Read) (T, error)) (found T, err error) {
	err = s.Read(ctx, func(r *Read) error {
		found, err = fn(r)
		return err
	})
	return found, err
}

// Get is Find for one method of Read with one argument, such as (*Read).Thread.
func Get[K, T any](ctx context.Context, s *Store, method func(*Read, context.Context, K) (T, error), key K) (T, error) {
	return Find(ctx, s, func(r *Read) (T, error) { return method(r, ctx, key) })
}

// One is Find for a function that calls one method of Read that makes one query: most
// do. A second query is an Internal error. It saves half of the time of a small read.
func One[T any](ctx context.Context, s *Store, fn func(*Read) (T, error)) (found T, err error) {
	err = s.db.ReadOnce(ctx, func(tx engine.Tx) error {
		found, err = fn(&Read{tx})
		return err
	})
	return found, err
}

// IfFound turns the NotFound of a read into a zero value.
func IfFound[T any](v T, err error) (T, error) {
	if chela.KindOf(err) == chela.NotFound {
		return *new(T), nil
	}
	return v, err
}

package store

// Mapping of rows: conversion of values to and from columns, and statements
// common to all nouns.

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

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
		err = noSuch(what, id)
	}
	return v, err
}

func noSuch(what, id string) error {
	return chela.E(chela.NotFound, fmt.Sprintf("there is no %s %q", what, id))
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

// A table maps a noun to the rows of its table by one list of columns.
type table[T any] struct {
	columns string // to select, in the order that scan expects
	names   string // to insert, in the order of args
	marks   string // the parameters of args: $1, $2 and so on
	insert  string // the statement that adds a row
	fields  func(*T) []column
}

// A column is a column of a table and the field that it holds: a pointer to a
// string, number, bool, time or JSON text, or an [encoded] field.
type column struct {
	name  string
	field any
}

// encoded is a field with a stored form of its own.
type encoded interface {
	Scan(stored any) error
	stored() any
}

// tableOf returns the table of the given name. The pointers of fields point into
// the value passed in.
func tableOf[T any](name string, fields func(*T) []column) table[T] {
	t := table[T]{fields: fields}
	for i, c := range fields(new(T)) {
		mark := fmt.Sprintf(", $%d", i+1)
		selected := ", " + c.name
		if _, ok := c.field.(nullColumn); ok {
			selected, mark = ", coalesce("+c.name+", '')", ", nullif("+mark[2:]+", '')"
		}
		t.columns, t.names, t.marks = t.columns+selected, t.names+", "+c.name, t.marks+mark
	}
	t.columns, t.names, t.marks = t.columns[2:], t.names[2:], t.marks[2:]
	t.insert = "insert into " + name + " (" + t.names + ") values (" + t.marks + ")"
	return t
}

// scan returns the noun in a row of its columns.
func (t table[T]) scan(row engine.Row) (v T, err error) {
	columns := t.fields(&v)
	dest := make([]any, len(columns))
	for i, c := range columns {
		switch field := c.field.(type) {
		case *time.Time:
			dest[i] = scanTime(field)
		case *bool:
			dest[i] = scanFlag(field)
		case *json.RawMessage:
			dest[i] = rawColumn{field}
		case nullColumn:
			dest[i] = field.to
		default:
			dest[i] = field
		}
	}
	err = row.Scan(dest...)
	return v, err
}

// args returns the parameters of a statement that adds the row of a noun.
func (t table[T]) args(v T) []any {
	columns := t.fields(&v)
	args := make([]any, len(columns))
	for i, c := range columns {
		args[i] = stored(c.field)
	}
	return args
}

// stored returns the stored form of a field.
func stored(field any) any {
	switch field := field.(type) {
	case *time.Time:
		return micros(*field)
	case *bool:
		return bit(*field)
	case *json.RawMessage:
		return string(*field)
	case nullColumn:
		return stored(field.to)
	case encoded:
		return field.stored()
	}
	v := reflect.ValueOf(field).Elem()
	if v.Kind() == reflect.String {
		return v.String()
	}
	return v.Int()
}

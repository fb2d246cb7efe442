package store

// Mapping of rows: the table of a noun, and statements common to all nouns.

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"chela"
	"chela/internal/store/engine"
)

// queryAll returns every row of a query.
func queryAll[T any](ctx context.Context, tx engine.Tx, scan func(engine.Row) (T, error), query string, args ...any) ([]T, error) {
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
func queryFirst[T any](ctx context.Context, tx engine.Tx, scan func(engine.Row) (T, error), query string, args ...any) (T, bool, error) {
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

// queryValue returns the only value of a query, and whether there is one.
func queryValue[T any](ctx context.Context, tx engine.Tx, query string, args ...any) (T, bool, error) {
	return queryFirst(ctx, tx, scanValue[T], query, args...)
}

// scanValue returns the value in a row of one column.
func scanValue[T any](row engine.Row) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

func noSuch(what string, id any) error {
	return chela.Ef(chela.NotFound, "there is no %s %q", what, id)
}

// illegalMove is the error of a move that is not in the table of moves.
func illegalMove(what string, id, from, to any) error {
	return chela.Ef(chela.Internal, "%s %v cannot go from %v to %v", what, id, from, to)
}

// A table maps a noun to the rows of its table by one list of columns.
type table[T any] struct {
	noun, name string
	columns    string // to select
	names      string // to insert
	marks      string // the parameters of args: $1, $2 and so on
	insert     string // the statement that adds a row
	selects    string // the statement that selects all rows, without conditions
	fields     []field
}

// A field is a field of a noun that is stored in a column.
type field struct {
	column   string
	index    []int
	json     bool
	optional bool // the zero value and the empty list are stored as the empty text, or as null if the field is no JSON
}

// tableOf returns the table of a noun with a list of columns. A column holds the
// field of its name, as args_hash holds ArgsHash, or the one after "=". Structs,
// lists, maps and pointers are stored as JSON. A column with "?" is optional.
func tableOf[T any](noun, name, columns string) table[T] {
	t := table[T]{noun: noun, name: name}
	var selected, names, marks []string
	for column := range strings.FieldsSeq(columns) {
		column, optional := strings.CutSuffix(column, "?")
		column, path, renamed := strings.Cut(column, "=")
		if !renamed {
			path = strings.ReplaceAll(column[strings.IndexByte(column, '.')+1:], "_", "")
		}
		f := fieldAt(reflect.TypeFor[T](), path)
		f.column, f.optional = column, optional
		t.fields = append(t.fields, f)
		mark := fmt.Sprintf("$%d", len(t.fields))
		names = append(names, column)
		if optional && !f.json {
			column, mark = "coalesce("+column+", '')", "nullif("+mark+", '')"
		}
		selected, marks = append(selected, column), append(marks, mark)
	}
	t.columns, t.names, t.marks = strings.Join(selected, ", "), strings.Join(names, ", "), strings.Join(marks, ", ")
	t.insert = "insert into " + name + " (" + t.names + ") values (" + t.marks + ")"
	t.selects = "select " + t.columns + " from " + name + " "
	return t
}

// fieldAt returns the field at a path of names, in any case, separated by dots.
func fieldAt(t reflect.Type, path string) field {
	var f field
	for name := range strings.SplitSeq(path, ".") {
		found, ok := t.FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, name) })
		if !ok {
			panic(fmt.Sprintf("store: %v has no field %s", t, name))
		}
		f.index, t = append(f.index, found.Index...), found.Type
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer:
		f.json = !engine.Stores(t)
	}
	return f
}

// scan returns the noun in a row of its columns.
func (t table[T]) scan(row engine.Row) (v T, err error) {
	of := reflect.ValueOf(&v).Elem()
	dest := make([]any, len(t.fields))
	for i, f := range t.fields {
		dest[i] = of.FieldByIndex(f.index).Addr().Interface()
		if f.json {
			dest[i] = jsonColumn{dest[i]}
		}
	}
	err = row.Scan(dest...)
	return v, err
}

// args returns the parameters of a statement that adds the row of a noun.
func (t table[T]) args(v T) []any { return argsOf(t.fields, &v, nil) }

// argsOf appends the values of fields to args.
func argsOf[T any](fields []field, v *T, args []any) []any {
	of := reflect.ValueOf(v).Elem()
	args = slices.Grow(args, len(fields))
	for _, f := range fields {
		at := of.FieldByIndex(f.index)
		switch {
		case at.Kind() == reflect.String:
			args = append(args, at.String())
		case !f.json:
			args = append(args, at.Interface())
		case f.optional && (at.IsZero() || at.Kind() == reflect.Slice && at.Len() == 0):
			args = append(args, "")
		default:
			args = append(args, jsonText(at.Addr().Interface()))
		}
	}
	return args
}

// all returns the rows that match conditions.
func (t table[T]) all(ctx context.Context, tx engine.Tx, conditions string, args ...any) ([]T, error) {
	return queryAll(ctx, tx, t.scan, t.selects+conditions, args...)
}

// first returns the only row that matches conditions, and whether there is one.
func (t table[T]) first(ctx context.Context, tx engine.Tx, conditions string, args ...any) (T, bool, error) {
	return queryFirst(ctx, tx, t.scan, t.selects+conditions, args...)
}

// get returns the row whose first column is id, or NotFound.
func (t table[T]) get(ctx context.Context, tx engine.Tx, id any) (T, error) {
	return t.one(ctx, tx, id, t.selects+"where "+t.key()+" = $1", id)
}

// one returns the only row of a query, or NotFound with an error that names id.
func (t table[T]) one(ctx context.Context, tx engine.Tx, id any, query string, args ...any) (T, error) {
	v, ok, err := queryFirst(ctx, tx, t.scan, query, args...)
	if err == nil && !ok {
		err = noSuch(t.noun, id)
	}
	return v, err
}

// lock locks the row whose first column is id until the transaction ends, by an update
// of a column to its own value, and returns it, or NotFound.
func (t table[T]) lock(ctx context.Context, tx engine.Tx, id any, column string) (T, error) {
	return t.one(ctx, tx, id, "update "+t.name+" set "+column+" = "+column+" where "+t.key()+" = $1 returning "+t.columns, id)
}

// key returns the first column.
func (t table[T]) key() string { return t.fields[0].column }

// add adds the row of a noun.
func (t table[T]) add(ctx context.Context, tx engine.Tx, v T) error {
	return tx.Must(ctx, t.insert, t.args(v)...)
}

// addNew adds the row of a noun unless it conflicts with an existing row in the given
// columns. It reports whether it did.
func (t table[T]) addNew(ctx context.Context, tx engine.Tx, v T, unique string) (bool, error) {
	return tx.Did(ctx, t.insert+" on conflict ("+unique+") do nothing", t.args(v)...)
}

// An update stores some columns of a noun in a row that a condition selects.
type update[T any] struct {
	noun, text string
	fields     []field
}

// update returns the update of columns where a condition holds, whose parameters are
// $1, $2 and so on, each once.
func (t table[T]) update(columns, condition string) update[T] {
	u := update[T]{noun: t.noun}
	var set []string
	for column := range strings.FieldsSeq(columns) {
		at := slices.IndexFunc(t.fields, func(f field) bool { return f.column == column })
		u.fields = append(u.fields, t.fields[at])
		set = append(set, fmt.Sprintf("%s = $%d", column, strings.Count(condition, "$")+len(u.fields)))
	}
	u.text = "update " + t.name + " set " + strings.Join(set, ", ") + " where " + condition
	return u
}

// args returns the parameters of the update: those of its condition, and the values
// of v.
func (u update[T]) args(v T, condition ...any) []any { return argsOf(u.fields, &v, condition) }

// move queues the update, whose first parameter is the id. If no row matches, the
// transaction fails with Conflict.
func (u update[T]) move(ctx context.Context, tx engine.Tx, v T, condition ...any) error {
	return tx.Move(ctx, u.noun, condition[0], u.text, u.args(v, condition...)...)
}

// A jsonColumn is a column of JSON text. Reading the empty text leaves the value
// unchanged.
type jsonColumn struct{ to any }

// Scan implements sql.Scanner.
func (j jsonColumn) Scan(v any) error {
	text, err := engine.TextOf(v)
	if err != nil || len(text) == 0 {
		return err
	}
	return json.Unmarshal(text, j.to)
}

// jsonText is v as JSON text, with "<", ">" and "&" unescaped. The types stored
// this way always encode.
func jsonText(v any) string {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("marshal %T for the store: %v", v, err))
	}
	return strings.TrimSuffix(text.String(), "\n")
}

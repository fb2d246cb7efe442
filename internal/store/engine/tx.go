package engine

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"chela"
)

// A Tx is a transaction. It belongs to the goroutine that runs its function,
// and ends with the function. Errors of its statements are classified.
type Tx struct {
	conn    conn
	touched *touched // nil in a read and a migration
	redact  func(text string) string
}

// redacted redacts the texts among the arguments of a statement, in place. Conditions
// are redacted as well, so that they find what was stored.
func (t Tx) redacted(args []any) []any {
	if t.redact == nil {
		return args
	}
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = t.redact(arg)
		case json.RawMessage:
			args[i] = t.redact(string(arg))
		case int, int64, []byte, time.Time, nil:
		default:
			if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
				args[i] = t.redact(v.String())
			}
		}
	}
	return args
}

// Redacted returns a text as a statement stores it. A text that is stored in another form
// must be redacted first.
func (t Tx) Redacted(text string) string {
	if t.redact == nil {
		return text
	}
	return t.redact(text)
}

// IsPostgres reports whether the transaction is one of PostgreSQL, for the few statements
// that differ.
func (t Tx) IsPostgres() bool {
	_, ok := t.conn.(*postgresConn)
	return ok
}

// conn runs the statements of one transaction.
type conn interface {
	exec(ctx context.Context, text string, args ...any) (int64, error)
	query(ctx context.Context, each func(Row) error, text string, args ...any) error
	queue(ctx context.Context, s Statement) error
}

// Exec runs a statement and returns the number of changed rows.
func (t Tx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	return t.conn.exec(ctx, text, t.redacted(args)...)
}

// Query runs a statement and calls each with every row.
func (t Tx) Query(ctx context.Context, each func(Row) error, text string, args ...any) error {
	return t.conn.query(ctx, each, text, t.redacted(args)...)
}

// Queue runs a statement before any later one, at the latest with the commit.
// If it is deferred, its error is returned by the statement or commit that it
// was sent with.
func (t Tx) Queue(ctx context.Context, s Statement) error {
	s.Args = t.redacted(s.Args)
	return t.conn.queue(ctx, s)
}

// Optimistic reports whether the transaction may assume what it did not read: it
// queues a statement whose Unmoved is [ErrRepeat] in place of waiting for an answer. If
// that changes no row, the transaction is run again, and is not optimistic. On SQLite,
// where there is no round trip to save, it is always false.
func (t Tx) Optimistic() bool {
	c, ok := t.conn.(*postgresConn)
	return ok && c.optimistic
}

// ErrRepeat is the error of an assumption that was wrong; see [Tx.Optimistic].
var ErrRepeat = errors.New("an assumption of the transaction was wrong")

// errSecondQuery is the error of a second query where there may be one.
var errSecondQuery = chela.E(chela.Internal, "a read of one query made a second one")

// Lock blocks other writers of a table until the transaction ends, and waits
// for transactions that have written to it. On SQLite there are no concurrent
// writers.
func (t Tx) Lock(ctx context.Context, table string) error {
	if !t.IsPostgres() {
		return nil
	}
	return t.Queue(ctx, Statement{Text: "lock table " + table + " in share row exclusive mode"})
}

// Must queues a statement that fails the transaction if it fails.
func (t Tx) Must(ctx context.Context, text string, args ...any) error {
	return t.Queue(ctx, Statement{Text: text, Args: args})
}

// Move queues an update that is conditional on a state. If no row matches,
// another writer was first, and the transaction fails with Conflict.
func (t Tx) Move(ctx context.Context, what string, id any, text string, args ...any) error {
	unmoved := chela.E(chela.Conflict, what+" "+reflect.ValueOf(id).String()+" was changed concurrently")
	return t.Queue(ctx, Statement{Text: text, Args: args, Unmoved: unmoved})
}

// Did runs a statement and reports whether it changed a row.
func (t Tx) Did(ctx context.Context, text string, args ...any) (bool, error) {
	n, err := t.Exec(ctx, text, args...)
	return n > 0, err
}

// A Statement is a statement whose result the transaction does not need.
type Statement struct {
	Text    string
	Args    []any
	Each    func(Row) error // receives the returned row; nil if none
	Unmoved error           // error if it changes no row; nil if it need not
}

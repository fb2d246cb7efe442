package engine

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"chela"
)

// A Tx is a transaction. It belongs to the goroutine that runs its function,
// and ends with the function. Errors of its statements are classified.
type Tx struct {
	conn    conn
	touched *touched // nil in a read and a migration
}

// conn runs the statements of one transaction.
type conn interface {
	exec(ctx context.Context, text string, args ...any) (int64, error)
	query(ctx context.Context, each func(Row) error, text string, args ...any) error
	queue(ctx context.Context, s Statement) error
}

// Exec runs a statement and returns the number of changed rows.
func (t Tx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	return t.conn.exec(ctx, text, args...)
}

// Query runs a statement and calls each with every row.
func (t Tx) Query(ctx context.Context, each func(Row) error, text string, args ...any) error {
	return t.conn.query(ctx, each, text, args...)
}

// Queue runs a statement before any later one, at the latest with the commit.
// If it is deferred, its error is returned by the statement or commit that it
// was sent with.
func (t Tx) Queue(ctx context.Context, s Statement) error { return t.conn.queue(ctx, s) }

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
	if _, ok := t.conn.(*postgresConn); !ok {
		return nil
	}
	return t.Queue(ctx, Statement{Text: "lock table " + table + " in share row exclusive mode"})
}

// A Statement is a statement whose result the transaction does not need.
type Statement struct {
	Text    string
	Args    []any
	Each    func(Row) error // receives the returned row; nil if none
	Unmoved error           // error if it changes no row; nil if it need not
}

// A Row is one row to be scanned. It is valid until the function that received
// it returns.
type Row struct{ from scanner }

type scanner interface{ Scan(dest ...any) error }

// Scan puts the columns into dest, as [database/sql.Rows.Scan] does.
func (r Row) Scan(dest ...any) error { return r.from.Scan(dest...) }

// storable replaces characters that either engine cannot store: NUL, and bytes
// that are not UTF-8. A model may produce them, and its turn must be stored
// anyway.
func storable(args []any) []any {
	for i, arg := range args {
		text, ok := arg.(string)
		if ok && (strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text)) {
			args[i] = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
		}
	}
	return args
}

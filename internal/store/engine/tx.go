package engine

import (
	"context"
	"strings"
	"unicode/utf8"
)

// A Tx is a transaction. It belongs to the goroutine that runs the function it
// was handed to and ends with it. Errors of its statements are classified.
type Tx struct{ conn conn }

// conn runs the statements of one transaction.
type conn interface {
	exec(ctx context.Context, text string, args ...any) (int64, error)
	query(ctx context.Context, each func(Row) error, text string, args ...any) error
	queue(ctx context.Context, s Statement) error
}

// Exec runs a statement and returns how many rows it changed.
func (t Tx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	return t.conn.exec(ctx, text, args...)
}

// Query runs a statement and hands each of its rows to each.
func (t Tx) Query(ctx context.Context, each func(Row) error, text string, args ...any) error {
	return t.conn.query(ctx, each, text, args...)
}

// Queue runs a statement before any that comes later, at the latest with the
// commit. Where that is not at once, its error is that of the statement or the
// commit with which it was sent.
func (t Tx) Queue(ctx context.Context, s Statement) error { return t.conn.queue(ctx, s) }

// Lock lets nobody else write to a table until the transaction ends, and waits for
// those that have begun to. On SQLite nobody else writes anyhow.
func (t Tx) Lock(ctx context.Context, table string) error {
	if _, ok := t.conn.(*postgresConn); !ok {
		return nil
	}
	return t.Queue(ctx, Statement{Text: "lock table " + table + " in share row exclusive mode"})
}

// A Statement is one of which a transaction needs no more than that it worked.
type Statement struct {
	Text    string
	Args    []any
	Each    func(Row) error // takes the row that it returns; nil if it returns none
	Unmoved error           // if it found nothing to change; nil if it need not
}

// A Row is one row to be scanned. It is gone when the function it was handed to
// returns.
type Row struct{ from scanner }

type scanner interface{ Scan(dest ...any) error }

// Scan puts the columns into dest, as [database/sql.Rows.Scan] does.
func (r Row) Scan(dest ...any) error { return r.from.Scan(dest...) }

// storable replaces what not both engines can keep in a text: NUL, and bytes
// that are not UTF-8. A model may say such things, and its turn must end all
// the same.
func storable(args []any) []any {
	for i, arg := range args {
		text, ok := arg.(string)
		if ok && (strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text)) {
			args[i] = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
		}
	}
	return args
}

package engine

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"chela"
	"chela/internal/fail"
)

// postgresConn is a connection in one transaction. What need not be known at
// once waits and goes out together with what must be, and the first of it
// takes the begin along: a turn spends most of its time on the way between the
// two processes, not in statements.
type postgresConn struct {
	conn  *pgx.Conn
	write bool

	waiting  *pgx.Batch
	answered bool  // by the server, since the transaction began
	ending   bool  // the commit was sent
	err      error // of the first statement that failed; it ended the transaction
}

// beginReading begins a transaction that sees one moment.
const beginReading = `begin isolation level repeatable read read only`

func newPostgresConn(conn *pgx.Conn, write bool) *postgresConn {
	c := &postgresConn{conn: conn, write: write, waiting: &pgx.Batch{}}
	if write {
		c.waiting.Queue("begin")
	} else {
		c.waiting.Queue(beginReading)
	}
	return c
}

func (c *postgresConn) exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	if err := fail.Point("store.statement"); err != nil {
		return 0, c.broken(ctx, err)
	}
	c.waiting.Queue(text, storable(args)...).Fn = func(results pgx.BatchResults) error {
		tag, err := results.Exec()
		n = tag.RowsAffected()
		return err
	}
	err = c.send(ctx)
	return n, err
}

func (c *postgresConn) query(ctx context.Context, each func(Row) error, text string, args ...any) error {
	if err := fail.Point("store.statement"); err != nil {
		return c.broken(ctx, err)
	}
	c.waiting.Queue(text, storable(args)...).Query(scanEach(each))
	return c.send(ctx)
}

// scanEach returns what hands every row to each.
func scanEach(each func(Row) error) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			if err := each(Row{rows}); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

func (c *postgresConn) queue(ctx context.Context, s Statement) error {
	if err := fail.Point("store.statement"); err != nil {
		return c.broken(ctx, err)
	}
	switch {
	case s.Each != nil:
		c.waiting.Queue(s.Text, storable(s.Args)...).Query(scanEach(s.Each))
	case s.Unmoved != nil:
		c.queueMove(s)
	default:
		c.waiting.Queue(s.Text, storable(s.Args)...)
	}
	return nil
}

// queueMove queues an update that raises an error if it changes nothing, so
// that a commit which waits behind it does not happen.
func (c *postgresConn) queueMove(s Statement) {
	text := `with moved as (` + s.Text + ` returning 1) select 1 / count(*) from moved`
	c.waiting.Queue(text, storable(s.Args)...).Fn = func(results pgx.BatchResults) error {
		_, err := results.Exec()
		if hasCode(err, divisionByZero) {
			return s.Unmoved
		}
		return err
	}
}

// script runs several statements, which take no arguments.
func (c *postgresConn) script(ctx context.Context, text string) error {
	if err := fail.Point("store.statement"); err != nil {
		return c.broken(ctx, err)
	}
	if err := c.send(ctx); err != nil {
		return err
	}
	_, err := c.conn.Exec(ctx, text)
	c.err = classifyPostgres(err)
	return c.err
}

// send lets the server do what waits, and reads its answers.
func (c *postgresConn) send(ctx context.Context) error {
	if c.err != nil {
		return c.err
	}
	if c.write {
		ctx = context.WithoutCancel(ctx) // as write says
	}
	batch := c.waiting
	c.waiting = &pgx.Batch{}
	c.err = classifyPostgres(c.conn.SendBatch(ctx, batch).Close())
	c.answered = c.answered || !c.conn.IsClosed()
	return c.err
}

// commit sends what waits, and the commit with it. Nothing is committed if any
// statement failed.
func (c *postgresConn) commit(ctx context.Context) error {
	if !c.answered && c.waiting.Len() == 1 { // the begin
		return c.err
	}
	c.waiting.Queue("commit")
	c.ending = c.err == nil
	return c.send(ctx)
}

// end ends a transaction that was not committed. If it cannot, the pool drops
// the connection, which does.
func (c *postgresConn) end(ctx context.Context) {
	if c.conn.PgConn().TxStatus() != 'I' {
		_, _ = c.conn.Exec(context.WithoutCancel(ctx), "rollback")
	}
}

// stale reports whether the connection was found to be lost, for example since
// the server was begun anew, before anything was done over it.
func (c *postgresConn) stale() bool {
	return c.err != nil && c.conn.IsClosed() && !c.answered && !c.ending
}

// broken makes the server raise an error with the code that goes with what a
// test asked for. Like every error it ends the transaction.
func (c *postgresConn) broken(ctx context.Context, asked error) error {
	code := "XX000" // internal error
	switch chela.KindOf(asked) {
	case chela.Unavailable:
		code = "40001" // serialization failure
	case chela.Exhausted:
		code = "53100" // disk full
	}
	c.waiting.Queue(fmt.Sprintf("do $$ begin raise '%s' using errcode = '%s'; end $$", asked, code))
	return c.send(ctx)
}

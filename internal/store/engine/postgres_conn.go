package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"chela"
	"chela/internal/platform/fail"
)

// postgresConn is a connection in one transaction. Statements without a needed
// result are queued and sent with the next synchronous one, and the begin is
// sent with the first: a turn spends most of its database time on round trips,
// not in statements.
type postgresConn struct {
	conn       *pgx.Conn
	how        access
	optimistic bool // see [Tx.Optimistic]

	waiting  *pgx.Batch
	answered bool  // the server has answered since the transaction began
	ending   bool  // the commit was sent
	err      error // of the first failed statement; it aborted the transaction
	asked    bool  // the only query of readsOnce was sent
	trips    int64 // batches sent
}

// access is what a transaction does.
type access int

const (
	reads     access = iota
	readsOnce        // one query, and statements that are queued before it
	writes
)

// beginReading begins a read-only snapshot transaction.
const beginReading = `begin isolation level repeatable read read only`

func newPostgresConn(conn *pgx.Conn, how access) *postgresConn {
	c := &postgresConn{conn: conn, how: how, waiting: &pgx.Batch{}}
	switch how {
	case reads:
		c.waiting.Queue(beginReading)
	case writes:
		c.waiting.Queue("begin")
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
	if c.asked {
		return errSecondQuery
	}
	c.asked = c.how == readsOnce
	whole := c.asked && c.waiting.Len() > 0
	c.waiting.Queue(text, storable(args)...).Query(scanEach(each))
	if whole {
		c.waiting.Queue("rollback")
	}
	return c.send(ctx)
}

// scanEach returns a function that passes every row to each.
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
	if c.how == readsOnce && c.waiting.Len() == 0 {
		c.waiting.Queue(beginReading)
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

// queueMove queues an update that raises an error if it changes no row, so that
// a commit queued after it fails.
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

// script runs several statements without arguments.
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

// send sends the queued statements and reads their results.
func (c *postgresConn) send(ctx context.Context) error {
	if c.err != nil {
		return c.err
	}
	if c.how == writes {
		ctx = context.WithoutCancel(ctx) // for the same reason as in write
	}
	batch := c.waiting
	c.waiting = &pgx.Batch{}
	c.trips++
	c.err = classifyPostgres(c.conn.SendBatch(ctx, batch).Close())
	c.answered = c.answered || !c.conn.IsClosed()
	return c.err
}

// commit sends the queued statements and the commit. Nothing is committed if
// any statement failed.
func (c *postgresConn) commit(ctx context.Context) error {
	if !c.answered && c.waiting.Len() == 1 { // only the begin is queued
		return c.err
	}
	c.waiting.Queue("commit")
	c.ending = c.err == nil
	return c.send(ctx)
}

// end rolls back a transaction that was not committed. If that fails, the pool
// drops the connection, which rolls back too.
func (c *postgresConn) end(ctx context.Context) {
	if c.conn.PgConn().TxStatus() != 'I' {
		c.trips++
		_, _ = c.conn.Exec(context.WithoutCancel(ctx), "rollback")
	}
}

// stale reports whether the connection was lost before it did anything, for
// example by a restart of the server.
func (c *postgresConn) stale() bool {
	return c.err != nil && c.conn.IsClosed() && !c.answered && !c.ending
}

// broken makes the server raise an error with the code that a test requested.
// Like every error it aborts the transaction.
func (c *postgresConn) broken(ctx context.Context, asked error) error {
	code := "XX000" // internal error
	switch {
	case errors.Is(asked, fail.ErrFull):
		code = "53100" // disk full
	case chela.KindOf(asked) == chela.Unavailable:
		code = "40001" // serialization failure
	}
	c.waiting.Queue(fmt.Sprintf("do $$ begin raise '%s' using errcode = '%s'; end $$", asked, code))
	return c.send(ctx)
}

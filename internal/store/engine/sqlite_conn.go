package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	sqlite3 "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"chela/internal/platform/fail"
)

// sqliteConn is one connection, used by one goroutine at a time. It prepares
// each statement once. It runs statements without the caller's context: they
// take microseconds, a transaction must not be cut in the middle, and the
// driver starts a goroutine for every cancellable context.
//
// Statements that return no rows go to the driver itself, past the locks and copies of
// database/sql, which a connection with one owner does not need: that saves 7 % of the
// memory allocated for a turn.
type sqliteConn struct {
	conn   *sql.Conn
	known  map[string]*sql.Stmt
	direct map[string]driver.Stmt
	args   []driver.NamedValue // of the running statement; its memory is used again
}

func (c *sqliteConn) prepare(query string) (*sql.Stmt, error) {
	if st, ok := c.known[query]; ok {
		return st, nil
	}
	st, err := c.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, classifySQLite(err)
	}
	if c.known == nil {
		c.known = map[string]*sql.Stmt{}
	}
	c.known[query] = st
	return st, nil
}

func (c *sqliteConn) close() error {
	var errs []error
	for _, st := range c.known {
		errs = append(errs, st.Close())
	}
	for _, st := range c.direct {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.conn.Close())...)
}

// begin begins a transaction. A transaction left open by an earlier user is
// rolled back first, so that one failure does not spread.
func (c *sqliteConn) begin(statement string) error {
	ctx := context.Background()
	_, err := c.exec(ctx, statement)
	if err == nil {
		return nil
	}
	if _, none := c.exec(ctx, "rollback"); none != nil {
		return err
	}
	_, err = c.exec(ctx, statement)
	return err
}

// beginWriting begins a transaction of the writing connection, and replaces the
// connection if it could not write before: SQLite keeps a file open for reading
// that it could not open for writing, and the file may be writable now.
func (e *sqlite) beginWriting() error {
	if e.refused {
		conn, err := e.wdb.Conn(context.Background())
		if err != nil {
			return classifySQLite(err)
		}
		_ = e.writer.close() // it wrote nothing
		e.writer, e.refused = &sqliteConn{conn: conn}, false
	}
	return e.writer.begin("begin immediate")
}

// isReadOnly reports whether a connection could not write. A file that was moved
// away is not opened again: another one may be in its place.
func isReadOnly(err error) bool {
	var e *sqlite3.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlitelib.SQLITE_READONLY && e.Code() != sqlitelib.SQLITE_READONLY_DBMOVED
}

func (c *sqliteConn) exec(_ context.Context, query string, args ...any) (int64, error) {
	if err := fail.Point("store.statement"); err != nil {
		return 0, c.broken(err)
	}
	st, err := c.prepareDirect(query)
	if err == nil {
		err = c.bind(storable(args))
	}
	if err != nil {
		return 0, classifySQLite(err)
	}
	defer clear(c.args)
	res, err := st.(driver.StmtExecContext).ExecContext(context.Background(), c.args)
	if err != nil {
		return 0, classifySQLite(err)
	}
	return res.RowsAffected()
}

// prepareDirect returns a statement of the driver.
func (c *sqliteConn) prepareDirect(query string) (st driver.Stmt, err error) {
	if st, ok := c.direct[query]; ok {
		return st, nil
	}
	err = c.conn.Raw(func(conn any) error {
		st, err = conn.(driver.Conn).Prepare(query)
		return err
	})
	if err != nil {
		return nil, err
	}
	if c.direct == nil {
		c.direct = map[string]driver.Stmt{}
	}
	c.direct[query] = st
	return st, nil
}

// bind makes args the arguments of the running statement.
func (c *sqliteConn) bind(args []any) error {
	c.args = c.args[:0]
	for i, arg := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return nil
}

func (c *sqliteConn) query(_ context.Context, each func(Row) error, query string, args ...any) error {
	if err := fail.Point("store.statement"); err != nil {
		return c.broken(err)
	}
	st, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(context.Background(), storable(args)...)
	if err != nil {
		return classifySQLite(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(Row{rows}); err != nil {
			return classifySQLite(err)
		}
	}
	return classifySQLite(rows.Err())
}

// queue runs a statement at once, as there is no round trip to save.
func (c *sqliteConn) queue(ctx context.Context, s Statement) error {
	if s.Each != nil {
		return c.query(ctx, s.Each, s.Text, s.Args...)
	}
	n, err := c.exec(ctx, s.Text, s.Args...)
	if err == nil && n == 0 {
		err = s.Unmoved
	}
	return err
}

// broken leaves the connection in the state of the error that a test requested:
// when the disk is full, SQLite has ended the transaction.
func (c *sqliteConn) broken(err error) error {
	if errors.Is(err, fail.ErrFull) {
		_, _ = c.conn.ExecContext(context.Background(), "rollback") // there may be none
	}
	return err
}

func isMissingTable(e *sqlite3.Error) bool { return strings.Contains(e.Error(), "no such table") }

// A singleConn makes one query, which is a snapshot without a transaction around it,
// unless statements are queued before.
type singleConn struct {
	*sqliteConn
	begun, asked bool
}

func (c *singleConn) query(ctx context.Context, each func(Row) error, query string, args ...any) error {
	if c.asked {
		return errSecondQuery
	}
	c.asked = true
	return c.sqliteConn.query(ctx, each, query, args...)
}

func (c *singleConn) queue(ctx context.Context, s Statement) error {
	if !c.begun {
		if err := c.begin("begin"); err != nil {
			return err
		}
		c.begun = true
	}
	return c.sqliteConn.queue(ctx, s)
}

// end ends the transaction, if there is one. The next one rolls back what cannot be
// ended.
func (c *singleConn) end(ctx context.Context) {
	if c.begun {
		_, _ = c.exec(ctx, "rollback")
	}
}

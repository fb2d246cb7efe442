package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"

	sqlite3 "modernc.org/sqlite"
)

// statements prepares each text once.
type statements struct {
	prepare func(ctx context.Context, query string) (*sql.Stmt, error)

	mu    sync.Mutex
	known map[string]*sql.Stmt // guarded by mu
}

func (s *statements) get(query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st, ok := s.known[query]; ok {
		return st, nil
	}
	st, err := s.prepare(context.Background(), query)
	if err != nil {
		return nil, classifySQLite(err)
	}
	if s.known == nil {
		s.known = map[string]*sql.Stmt{}
	}
	s.known[query] = st
	return st, nil
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, st := range s.known {
		errs = append(errs, st.Close())
	}
	s.known = nil
	return errors.Join(errs...)
}

// sqliteConn is the writing connection. It runs statements without the
// caller's context: they take microseconds, a transaction must not be cut in
// the middle, and the driver spends a goroutine on every context that can end.
type sqliteConn struct {
	conn *sql.Conn
	statements
}

func (c *sqliteConn) exec(_ context.Context, query string, args ...any) (int64, error) {
	st, err := c.get(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, classifySQLite(err)
	}
	return res.RowsAffected()
}

func (c *sqliteConn) query(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := c.get(query)
	if err != nil {
		return nil, err
	}
	rows, err := st.QueryContext(context.Background(), args...)
	return rows, classifySQLite(err)
}

func (c *sqliteConn) classify(err error) error { return classifySQLite(err) }

// sqliteTx is one reading transaction.
type sqliteTx struct {
	tx         *sql.Tx
	statements *statements
}

func (t *sqliteTx) exec(context.Context, string, ...any) (int64, error) {
	panic("a reading transaction was asked to write")
}

func (t *sqliteTx) query(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := t.statements.get(query)
	if err != nil {
		return nil, err
	}
	rows, err := t.tx.StmtContext(context.Background(), st).QueryContext(context.Background(), args...)
	return rows, classifySQLite(err)
}

func (t *sqliteTx) classify(err error) error { return classifySQLite(err) }

func isMissingTable(e *sqlite3.Error) bool { return strings.Contains(e.Error(), "no such table") }

package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"chela"
	"chela/internal/fail"
)

// maxAttempts is how often a transaction is begun when PostgreSQL asks to
// repeat it. Transactions of one session meet on its lane's row and wait for
// each other, so repeats are rare.
const maxAttempts = 8

// postgres is the engine that shares one database between nodes.
type postgres struct {
	db *sql.DB
}

func openPostgres(ctx context.Context, cfg Config) (*postgres, error) {
	parsed, err := pgx.ParseConfig(cfg.URL)
	if err != nil {
		// The parser's message quotes the address, which may hold a password.
		return nil, chela.E(chela.Invalid, "database.url is not a PostgreSQL address").
			WithHint("write it as postgres://user@host:5432/name")
	}
	db := stdlib.OpenDB(*parsed)
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, classifyPostgres(err)
	}
	return &postgres{db: db}, nil
}

func (e *postgres) read(ctx context.Context, fn func(*Read) error) error {
	if err := fail.Point("store.statement"); err != nil {
		return err
	}
	tx, err := e.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return classifyPostgres(err)
	}
	defer tx.Rollback() // nothing was written; ending it cannot fail in a way that matters
	return fn(&Read{conn: postgresTx{tx}})
}

func (e *postgres) write(ctx context.Context, op string, fn func(*Write) error) error {
	for attempt := 1; ; attempt++ {
		err := e.attempt(ctx, op, fn)
		if err == nil || attempt == maxAttempts || !repeatable(err) || ctx.Err() != nil {
			return err
		}
	}
}

// attempt runs fn in one transaction.
func (e *postgres) attempt(ctx context.Context, op string, fn func(*Write) error) (err error) {
	// A transaction that has begun is brought to its end even when ctx ends:
	// cutting a commit would leave its outcome unknown.
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := fail.Point("store.statement"); err != nil {
		return err
	}
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return classifyPostgres(err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = chela.E(chela.Internal, "a transaction panicked").Because(fmt.Errorf("%v", p))
		}
		if err != nil {
			tx.Rollback() // after a failure; err is what matters
		}
	}()
	if err := fail.Point(op + ".begin"); err != nil {
		return err
	}
	if err := fn(&Write{Read{conn: postgresTx{tx}}}); err != nil {
		return err
	}
	if err := fail.Point(op + ".commit"); err != nil {
		return err
	}
	if err := fail.Point("store.commit"); err != nil {
		return err
	}
	if err := fail.Point("store.statement"); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return classifyPostgres(err)
	}
	return fail.Point(op + ".done")
}

// migrationLock is an arbitrary number that all versions of chela share, so
// that two of them never change a schema at once.
const migrationLock = 0x6368656c61

func (e *postgres) migrate(ctx context.Context, m migration) error {
	return e.write(ctx, "store.migrate", func(w *Write) error {
		if _, err := w.conn.exec(ctx, `select pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
			return err
		}
		return w.apply(ctx, m, func(script string) error {
			_, err := w.conn.exec(ctx, script) // without arguments the simple protocol takes several statements
			return err
		})
	})
}

// horizon is the oldest transaction of the database that still runs, or the
// next one. The snapshot is older than the look at who runs, so a transaction
// before the horizon that the look does not show has ended, and whoever reads
// after this sees what it wrote. The oldest of the snapshot itself would do too,
// but counts the transactions of all databases of the server.
func (e *postgres) horizon(ctx context.Context) (n int64, err error) {
	// A running transaction is told by the lower half of its number only; age
	// counts back from the same one for both.
	err = e.db.QueryRowContext(ctx, `with newest as (select pg_snapshot_xmax(pg_current_snapshot()) as x)
		select least(x::text::bigint, (select min(x::text::bigint + age(x::xid) - age(backend_xid)) from pg_stat_activity
			where datname = current_database() and backend_xid is not null)) from newest`).Scan(&n)
	return n, classifyPostgres(err)
}

func (e *postgres) close() error { return e.db.Close() }

// postgresTx is one transaction.
type postgresTx struct{ tx *sql.Tx }

func (t postgresTx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := fail.Point("store.statement"); err != nil {
		return 0, t.broken(ctx, err)
	}
	if len(args) == 0 {
		args = []any{pgx.QueryExecModeSimpleProtocol}
	}
	res, err := t.tx.ExecContext(ctx, query, storable(args)...)
	if err != nil {
		return 0, classifyPostgres(err)
	}
	return res.RowsAffected()
}

func (t postgresTx) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := fail.Point("store.statement"); err != nil {
		return nil, t.broken(ctx, err)
	}
	rows, err := t.tx.QueryContext(ctx, query, args...)
	return rows, classifyPostgres(err)
}

// broken makes the server raise an error with the code that goes with what a
// test asked for. Like every error it ends the transaction.
func (t postgresTx) broken(ctx context.Context, asked error) error {
	code := "XX000" // internal error
	switch chela.KindOf(asked) {
	case chela.Unavailable:
		code = "40001" // serialization failure
	case chela.Exhausted:
		code = "53100" // disk full
	}
	raise := fmt.Sprintf("do $$ begin raise '%s' using errcode = '%s'; end $$", asked, code)
	_, err := t.tx.ExecContext(ctx, raise, pgx.QueryExecModeSimpleProtocol)
	return classifyPostgres(err)
}

func (t postgresTx) classify(err error) error { return classifyPostgres(err) }

// repeatable reports whether PostgreSQL asks to run the transaction again.
func repeatable(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01")
}

// classifyPostgres is the one place that reads PostgreSQL's error codes.
func classifyPostgres(err error) error {
	if err == nil {
		return nil
	}
	var e *pgconn.PgError
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &e):
		return classifyCode(e)
	case errors.As(err, &connect):
		// The message of a connection error names host and user, never the
		// password.
		return chela.E(chela.Unavailable, "the database does not answer").
			WithHint("check that PostgreSQL runs and database.url is right").Because(err)
	case errors.As(err, &network), errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.Is(err, net.ErrClosed), pgconn.SafeToRetry(err),
		strings.Contains(err.Error(), "conn closed"), strings.Contains(err.Error(), "unexpected EOF"):
		return chela.E(chela.Unavailable, "the connection to the database was lost").
			WithHint("try again").Because(err)
	}
	return err
}

func classifyCode(e *pgconn.PgError) error {
	if e.Code == "42P01" { // undefined table
		return chela.E(chela.NotFound, "the database has no such table").Because(e)
	}
	class := e.Code
	if len(class) > 2 {
		class = class[:2]
	}
	switch class {
	case "23":
		return chela.E(chela.Conflict, "the database refused a row").Because(e)
	case "40":
		return chela.E(chela.Unavailable, "the transaction met another one").WithHint("try again").Because(e)
	case "53":
		return chela.E(chela.Exhausted, "the database is out of space or connections").
			WithHint("free some and try again; nothing was written half").Because(e)
	case "57", "08":
		return chela.E(chela.Unavailable, "the connection to the database was lost").WithHint("try again").Because(e)
	case "28", "42":
		if class == "28" || e.Code == "42501" {
			return chela.E(chela.Denied, "the database does not let this user in").
				WithHint("check the user and its rights in database.url").Because(e)
		}
	case "25":
		return chela.E(chela.Denied, "the database cannot be written").Because(e)
	case "3D":
		return chela.E(chela.NotFound, "the database does not exist").WithHint("create it, or mend database.url").Because(e)
	}
	return chela.E(chela.Internal, "the database reported an error").Because(e)
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"chela"
	"chela/internal/fail"
)

// maxAttempts is how often a transaction is begun when PostgreSQL asks to
// repeat it. Transactions of one session meet on its lane's row and wait for
// each other, so repeats are rare.
const maxAttempts = 8

// maxConns is how many transactions run at once.
const maxConns = 16

// postgres is the engine that shares one database between nodes.
type postgres struct {
	pool *pgxpool.Pool
}

func openPostgres(ctx context.Context, cfg Config) (*postgres, error) {
	parsed, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		// The parser's message quotes the address, which may hold a password.
		return nil, chela.E(chela.Invalid, "database.url is not a PostgreSQL address").
			WithHint("write it as postgres://user@host:5432/name")
	}
	parsed.MaxConns = maxConns
	pool, err := pgxpool.NewWithConfig(ctx, parsed)
	if err != nil {
		return nil, classifyPostgres(err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, classifyPostgres(err)
	}
	return &postgres{pool: pool}, nil
}

func (e *postgres) read(ctx context.Context, fn func(Tx) error) error {
	err := repeat(ctx, func() (bool, error) {
		return e.attempt(ctx, false, func(c *postgresConn) error { return fn(Tx{c}) })
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // the connection was not lost: it was given up
	}
	return err
}

func (e *postgres) write(ctx context.Context, op string, fn func(Tx) error) error {
	// A transaction that has begun is brought to its end even when ctx ends:
	// cutting a commit would leave its outcome unknown.
	whole := context.WithoutCancel(ctx)
	return repeat(ctx, func() (bool, error) {
		return e.attempt(whole, true, func(c *postgresConn) error { return perform(whole, c, op, fn) })
	})
}

// repeat makes attempts while they are of no avail and can be repeated.
func repeat(ctx context.Context, attempt func() (again bool, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for n := 1; ; n++ {
		again, err := attempt()
		if !again || n == maxAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// attempt runs fn in one transaction, and reports whether that can be
// repeated after an error.
func (e *postgres) attempt(ctx context.Context, write bool, fn func(*postgresConn) error) (again bool, err error) {
	if err := fail.Point("store.statement"); err != nil {
		return false, err
	}
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		return false, classifyPostgres(err)
	}
	defer conn.Release()
	c := newPostgresConn(conn.Conn(), write)
	defer c.end(ctx)
	err = fn(c)
	if c.stale() && ctx.Err() == nil {
		e.pool.Reset() // the others that nobody uses are likely lost too
		return true, err
	}
	return write && repeatable(err), err
}

// perform runs fn and commits. One that panics counts as one that fails.
func perform(ctx context.Context, c *postgresConn, op string, fn func(Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = chela.E(chela.Internal, "a transaction panicked").Because(fmt.Errorf("%v", p))
		}
	}()
	if err := fail.Point(op + ".begin"); err != nil {
		return err
	}
	if err := fn(Tx{c}); err != nil {
		return err
	}
	for _, point := range []string{op + ".commit", "store.commit", "store.statement"} {
		if err := fail.Point(point); err != nil {
			return err
		}
	}
	if err := c.commit(ctx); err != nil {
		return err
	}
	return fail.Point(op + ".done")
}

// migrationLock is an arbitrary number that all versions of chela share, so
// that two of them never change a schema at once.
const migrationLock = 0x6368656c61

func (e *postgres) migrate(ctx context.Context, m migration) error {
	return e.write(ctx, "store.migrate", func(tx Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
			return err
		}
		return tx.apply(ctx, m, func(script string) error { return tx.conn.(*postgresConn).script(ctx, script) })
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
	err = e.pool.QueryRow(ctx, `with newest as (select pg_snapshot_xmax(pg_current_snapshot()) as x)
		select least(x::text::bigint, (select min(x::text::bigint + age(x::xid) - age(backend_xid)) from pg_stat_activity
			where datname = current_database() and backend_xid is not null)) from newest`).Scan(&n)
	return n, classifyPostgres(err)
}

func (e *postgres) close() error {
	e.pool.Close()
	return nil
}

// Codes of errors after which something can be done.
const (
	divisionByZero       = "22012"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

// hasCode reports whether an error came from the server with a code.
func hasCode(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}

// repeatable reports whether PostgreSQL asks to run the transaction again.
func repeatable(err error) bool {
	return hasCode(err, serializationFailure) || hasCode(err, deadlockDetected)
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
	case errors.As(err, &network), errors.Is(err, net.ErrClosed), pgconn.SafeToRetry(err),
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

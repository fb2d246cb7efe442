package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"chela"
	"chela/internal/platform/fail"
)

// maxAttempts bounds the retries of a transaction after serialization failures.
// Transactions of one session serialize on their lane's row, so retries are
// rare.
const maxAttempts = 8

// maxConns bounds the concurrent transactions.
const maxConns = 16

// postgres is the engine for a database shared between nodes.
type postgres struct {
	pool  *pgxpool.Pool
	clock clock
	trips atomic.Int64 // answers that were waited for

	changes   *changes
	listening sync.Once
	listened  chan struct{}      // closed when the listener has ended
	unlisten  context.CancelFunc // ends the listener; set by listening
}

func openPostgres(ctx context.Context, cfg Config, counted *changes) (*postgres, error) {
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
	return &postgres{pool: pool, clock: clock{now: cfg.Now}, changes: counted, listened: make(chan struct{})}, nil
}

func (e *postgres) now() time.Time { return e.clock.Now() }

func (e *postgres) read(ctx context.Context, once bool, fn func(Tx) error) error {
	how := reads
	if once {
		how = readsOnce
	}
	err := repeat(ctx, func(int) (bool, error) {
		return e.attempt(ctx, how, func(c *postgresConn) error { return fn(Tx{conn: c}) })
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // cancelled by the caller, not lost
	}
	return err
}

func (e *postgres) write(ctx context.Context, op string, fn func(Tx) error) error {
	// A transaction that has begun runs to its end even when ctx is done:
	// cancelling a commit would leave its outcome unknown.
	whole := context.WithoutCancel(ctx)
	return repeat(ctx, func(n int) (bool, error) {
		return e.attempt(whole, writes, func(c *postgresConn) error {
			c.optimistic = n == 1
			return perform(whole, c, op, fn)
		})
	})
}

// repeat calls attempt with its number, from 1, until it succeeds or cannot be
// repeated. If ctx is done before an attempt that is due, it returns the error of ctx.
func repeat(ctx context.Context, attempt func(n int) (again bool, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for n := 1; ; n++ {
		again, err := attempt(n)
		if !again || n == maxAttempts {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// attempt runs fn in one transaction, and reports whether to retry after an
// error.
func (e *postgres) attempt(ctx context.Context, how access, fn func(*postgresConn) error) (again bool, err error) {
	if err := fail.Point("store.statement"); err != nil {
		return false, err
	}
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		return false, classifyPostgres(err)
	}
	defer conn.Release()
	if e.clock.due() {
		e.clock.measure(func() (server time.Time, err error) {
			err = conn.QueryRow(ctx, `select clock_timestamp()`).Scan(&server)
			return server, err
		})
	}
	c := newPostgresConn(conn.Conn(), how)
	defer func() { e.trips.Add(c.trips) }()
	defer c.end(ctx)
	err = fn(c)
	if c.stale() && ctx.Err() == nil {
		e.pool.Reset() // the idle connections are probably lost too
		return true, err
	}
	return how == writes && (repeatable(err) || errors.Is(err, ErrRepeat)), err
}

// perform runs fn and commits. A panic becomes an error.
func perform(ctx context.Context, c *postgresConn, op string, fn func(Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = chela.E(chela.Internal, "a transaction panicked").Because(fmt.Errorf("%v", p))
		}
	}()
	if err := fail.Point(op + ".begin"); err != nil {
		return err
	}
	if err := fn(Tx{conn: c}); err != nil {
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

// migrationLock is an arbitrary number shared by all versions, so that no two
// processes migrate a schema at once.
const migrationLock = 0x6368656c61

func (e *postgres) migrate(ctx context.Context, m migration) error {
	return e.write(ctx, "store.migrate", func(tx Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
			return err
		}
		return tx.apply(ctx, m, func(script string) error { return tx.conn.(*postgresConn).script(ctx, script) })
	})
}

// horizon is the oldest running transaction of the database, or the next one.
// The snapshot is older than the list of running transactions, so a transaction
// before the horizon that is not in the list has ended, and later readers see
// its writes. The xmin of the snapshot would work too, but it includes
// transactions of all databases of the server.
func (e *postgres) horizon(ctx context.Context) (n int64, err error) {
	// A running transaction is listed with the lower half of its number only;
	// age counts back from the same base for both.
	err = e.pool.QueryRow(ctx, `with newest as (select pg_snapshot_xmax(pg_current_snapshot()) as x)
		select least(x::text::bigint, (select min(x::text::bigint + age(x::xid) - age(backend_xid)) from pg_stat_activity
			where datname = current_database() and backend_xid is not null)) from newest`).Scan(&n)
	return n, classifyPostgres(err)
}

func (e *postgres) close() error {
	e.listening.Do(func() {
		e.unlisten = func() { close(e.listened) } // there is no listener
	})
	e.unlisten()
	<-e.listened
	e.pool.Close()
	return nil
}

// Error codes that a caller handles.
const (
	divisionByZero       = "22012"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

// hasCode reports whether an error is a server error with a code.
func hasCode(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}

// repeatable reports whether PostgreSQL requires a retry of the transaction.
func repeatable(err error) bool {
	return hasCode(err, serializationFailure) || hasCode(err, deadlockDetected)
}

// isDamage reports whether an error while reading indicates damaged data:
// internal errors of the server, file errors, and text with an invalid
// encoding.
func isDamage(e *pgconn.PgError) bool {
	return strings.HasPrefix(e.Code, "XX") || strings.HasPrefix(e.Code, "58") || e.Code == "22021"
}

// classifyPostgres is the only place that reads PostgreSQL's errors.
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
		return trouble("the database does not answer", "check that PostgreSQL runs and database.url is right", err)
	case errors.As(err, &network), errors.Is(err, net.ErrClosed), pgconn.SafeToRetry(err),
		strings.Contains(err.Error(), "conn closed"), strings.Contains(err.Error(), "unexpected EOF"):
		return trouble("the connection to the database was lost", "try again", err)
	}
	return err
}

// classifyCode maps a PostgreSQL error code; its first two characters are the
// class.
func classifyCode(e *pgconn.PgError) error {
	switch e.Code {
	case "42P01": // undefined table
		return trouble("the database has no such table", damagedHint, fmt.Errorf("%w: %w", errNoTable, e))
	case "42501": // insufficient privilege
		return trouble("the database denied access to this user", "check the user and its rights in database.url", e)
	case "25006": // read-only transaction, as on a standby
		return trouble("the database cannot be written", "check that database.url names the primary and that it takes writes", e)
	case "25P03", "25P04": // a transaction timed out
		return trouble("the connection to the database was lost", "try again", e)
	case "55P03", "55006": // a lock is not available, an object is in use
		return trouble("the database is locked by another program", "try again", e)
	case "53300": // too many connections
		return trouble("the database has no free connection", "raise max_connections of PostgreSQL, or try again", e)
	case "XX001", "XX002": // damaged data, damaged index
		return trouble("the database is damaged", damagedHint, e)
	}
	switch e.Code[:min(2, len(e.Code))] {
	case "23":
		return chela.E(chela.Conflict, "the database rejected a row").Because(e)
	case "40":
		return trouble("the transaction conflicted with another one", "try again", e)
	case "53":
		return trouble("the database is out of space or memory", fullHint, e)
	case "57", "08":
		return trouble("the connection to the database was lost", "try again", e)
	case "58":
		return trouble("the disk of the database reported an error", "check the disk of PostgreSQL", e)
	case "28":
		return trouble("the database denied access to this user", "check the user and its rights in database.url", e)
	case "3D":
		return trouble("the database does not exist", "create it, or correct database.url", e)
	}
	return chela.E(chela.Internal, "the database reported an error").Because(e)
}

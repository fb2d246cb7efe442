package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	sqlite3 "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"chela"
	"chela/internal/platform/fail"
)

// maxGroup bounds the transactions of one commit, and so the latency of the
// first one; 256 functions of a turn take about 50 ms on the slowest machine
// tried.
const maxGroup = 256

// maxReaders bounds the concurrent read transactions.
const maxReaders = 4

// sqlite is the engine for a single file.
type sqlite struct {
	readers chan *sqliteConn // idle reading connections
	rdb     *sql.DB

	writer  *sqliteConn // used by the writing goroutine only
	refused bool        // the writer could not write; used by the writing goroutine only
	wdb     *sql.DB

	queue chan *job
	done  chan struct{}    // closed when the writing goroutine has ended
	local func() time.Time // clock of the machine, shared by all processes on this file
}

func (e *sqlite) now() time.Time { return e.local() }

// A job is one function in the queue of the writing goroutine.
type job struct {
	op  string
	fn  func(Tx) error
	err error
	out chan struct{} // closed when err is final

	told bool // out was closed too early, by an injected defect
}

func openSQLite(ctx context.Context, cfg Config) (*sqlite, error) {
	if err := checkFile(cfg.Path); err != nil {
		return nil, err
	}
	busy := cfg.Busy
	if busy == 0 {
		busy = 5 * time.Second
	}
	// Savepoint journals stay in memory: they are a few pages, and the
	// temporary file would cost a fifth of a group.
	wdb, err := sql.Open("sqlite", sqliteDSN(cfg.Path, busy,
		"journal_mode(wal)", "synchronous(full)", "foreign_keys(1)", "temp_store(memory)"))
	if err != nil {
		return nil, classifySQLite(err)
	}
	wdb.SetMaxIdleConns(-1) // a connection that is given back must not be used again
	rdb, err := sql.Open("sqlite", sqliteDSN(cfg.Path, busy, "query_only(1)"))
	if err != nil {
		wdb.Close()
		return nil, classifySQLite(err)
	}
	e := &sqlite{
		readers: make(chan *sqliteConn, maxReaders),
		rdb:     rdb,
		wdb:     wdb,
		queue:   make(chan *job, maxGroup),
		done:    make(chan struct{}),
		local:   cfg.Now,
	}
	if err := e.connect(ctx, busy); err != nil {
		rdb.Close()
		wdb.Close()
		return nil, classifySQLite(err)
	}
	go e.run() // close waits for it
	return e, nil
}

// connect opens the writing connection, then the reading ones.
func (e *sqlite) connect(ctx context.Context, busy time.Duration) error {
	conn, err := e.firstConn(ctx, busy)
	if err != nil {
		return err
	}
	e.writer = &sqliteConn{conn: conn}
	for range maxReaders {
		conn, err := e.rdb.Conn(ctx)
		if err != nil {
			return err
		}
		e.readers <- &sqliteConn{conn: conn}
	}
	return nil
}

// checkFile returns clear errors for the cases that SQLite reports as "unable
// to open database file".
func checkFile(path string) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return chela.E(chela.NotFound, "the folder of the database does not exist").WithHint("run chela init").Because(err)
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return makeFile(path)
	case err != nil:
		return chela.E(chela.Denied, "the database cannot be reached").WithHint("check the permissions of the home").Because(err)
	case !st.Mode().IsRegular():
		return chela.E(chela.Invalid, "chela.db is not a file").WithHint("move it away and start again")
	}
	return nil
}

// makeFile creates an empty database readable by its owner only. Its errors are
// clearer than SQLite's.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil
	}
	return f.Close()
}

// firstConn opens the writing connection. When two processes switch a new
// database to WAL at once, SQLite does not honor the lock timeout, so firstConn
// retries for that time.
func (e *sqlite) firstConn(ctx context.Context, busy time.Duration) (*sql.Conn, error) {
	patience, cancel := context.WithTimeout(ctx, busy)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := e.wdb.Conn(ctx)
		if !isLocked(err) {
			return conn, err
		}
		select {
		case <-again.C:
		case <-patience.Done():
			return nil, err
		}
		if patience.Err() != nil {
			return nil, err
		}
	}
}

func sqliteDSN(path string, busy time.Duration, pragmas ...string) string {
	q := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds())}}
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

func (e *sqlite) read(ctx context.Context, once bool, fn func(Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	var conn *sqliteConn
	select {
	case conn = <-e.readers:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { e.readers <- conn }()
	if once {
		single := &singleConn{sqliteConn: conn}
		defer single.end(ctx)
		return fn(Tx{conn: single})
	}
	if err := conn.begin("begin"); err != nil {
		return err
	}
	defer func() {
		if _, ended := conn.exec(ctx, "rollback"); err == nil {
			err = ended
		}
	}()
	return fn(Tx{conn: conn})
}

func (e *sqlite) write(ctx context.Context, op string, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{op: op, fn: fn, out: make(chan struct{})}
	e.queue <- j
	// Wait for the outcome even when ctx is done: the caller must not assume
	// that nothing was written.
	<-j.out
	return j.err
}

// run owns the writing connection until the store is closed.
func (e *sqlite) run() {
	defer close(e.done)
	group := make([]*job, 0, maxGroup)
	for j := range e.queue {
		group = append(group[:0], j)
		// Yield to the callers of the last commit, which may queue their next
		// function: groups of 64 sessions grow from 31 to 50.
		runtime.Gosched()
		runtime.Gosched()
	more:
		for len(group) < maxGroup {
			select {
			case next, ok := <-e.queue:
				if !ok {
					break more
				}
				group = append(group, next)
			default:
				break more
			}
		}
		e.commit(group)
		for _, j := range group {
			e.refused = e.refused || isReadOnly(j.err)
			if !j.told {
				close(j.out)
			}
		}
	}
}

// tellEarly is an injected defect: callers that add a message get success
// before the commit.
func tellEarly(group []*job) {
	if !fail.Mutant("acknowledge-early") {
		return
	}
	for _, j := range group {
		if j.op == "inbox.accept" && j.err == nil {
			j.told = true
			close(j.out)
			_ = fail.Point("store.told") // a place for a kill; the defect has no errors
		}
	}
}

// commit runs a group in one transaction and sets every job's error.
func (e *sqlite) commit(group []*job) {
	failAll := func(err error) {
		for _, j := range group {
			if j.err == nil {
				j.err = err
			}
		}
	}
	if err := e.beginWriting(); err != nil {
		failAll(err)
		return
	}
	if !e.perform(group) {
		_ = e.control("rollback") // SQLite may have rolled back already
		for i := range group {
			e.commit(group[i : i+1]) // alone, only the culprits fail again
		}
		return
	}
	if !slices.ContainsFunc(group, func(j *job) bool { return j.err == nil }) {
		_ = e.control("rollback") // there may be nothing to roll back; the jobs' own errors are returned
		return
	}
	tellEarly(group)
	err := fail.Point("store.commit")
	if err == nil {
		err = e.control("commit")
	}
	if err != nil {
		failAll(err)
		_ = e.control("rollback") // SQLite may have rolled back already; err is returned
		return
	}
	for _, j := range group {
		if j.err == nil {
			j.err = fail.Point(j.op + ".done")
		}
	}
}

// perform runs the functions of a group, each inside a savepoint if the group
// has several. It reports whether the transaction is still alive: SQLite aborts
// it, with all savepoints, when the disk is full or broken.
func (e *sqlite) perform(group []*job) bool {
	if len(group) == 1 {
		group[0].err = e.call(group[0])
		return true
	}
	for _, j := range group {
		if e.control("savepoint job") != nil {
			return false
		}
		j.err = e.call(j)
		if j.err != nil && e.control("rollback to job") != nil {
			return false
		}
		if e.control("release job") != nil {
			return false
		}
	}
	return true
}

// call runs one function. A panic becomes an error.
func (e *sqlite) call(j *job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = chela.E(chela.Internal, "a transaction panicked").Because(fmt.Errorf("%v", p))
		}
	}()
	if err := fail.Point(j.op + ".begin"); err != nil {
		return err
	}
	if err := j.fn(Tx{conn: e.writer}); err != nil {
		return err
	}
	return fail.Point(j.op + ".commit")
}

// control runs a transaction control statement.
func (e *sqlite) control(statement string) error {
	_, err := e.writer.exec(context.Background(), statement)
	return err
}

func (e *sqlite) migrate(ctx context.Context, m migration) error {
	return e.write(ctx, "store.migrate", func(tx Tx) error {
		return tx.apply(ctx, m, func(script string) error {
			if err := fail.Point("store.statement"); err != nil {
				return e.writer.broken(err)
			}
			// A script holds several statements, which cannot be prepared as
			// one.
			_, err := e.writer.conn.ExecContext(ctx, script)
			return classifySQLite(err)
		})
	})
}

// horizon is the maximum: transactions commit in the order of their beginning.
func (e *sqlite) horizon(context.Context) (int64, error) { return math.MaxInt64, nil }

func (e *sqlite) close() error {
	close(e.queue)
	<-e.done
	errs := []error{e.writer.close(), e.wdb.Close()}
	for range maxReaders {
		errs = append(errs, (<-e.readers).close())
	}
	return errors.Join(append(errs, e.rdb.Close())...)
}

// classifySQLite is the only place that reads SQLite's errors.
func classifySQLite(err error) error {
	var e *sqlite3.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	if isMissingTable(e) {
		return trouble("the database has no such table", damagedHint, fmt.Errorf("%w: %w", errNoTable, err))
	}
	return classifySQLiteCode(e.Code(), err)
}

// isLocked reports whether another connection holds a lock on the database.
func isLocked(err error) bool {
	var e *sqlite3.Error
	return errors.As(err, &e) && slices.Contains([]int{sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED, sqlitelib.SQLITE_PROTOCOL}, e.Code()&0xff)
}

// classifySQLiteCode maps a SQLite error code; the lower byte is the primary
// code.
func classifySQLiteCode(code int, err error) error {
	if code == sqlitelib.SQLITE_IOERR_SHMSIZE { // no space for the WAL index
		return trouble("the disk is full", fullHint, err)
	}
	switch code & 0xff {
	case sqlitelib.SQLITE_CONSTRAINT:
		return chela.E(chela.Conflict, "the database rejected a row").Because(err)
	case sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED, sqlitelib.SQLITE_PROTOCOL:
		return trouble("the database is locked by another program", "close the program that holds chela.db, or try again", err)
	case sqlitelib.SQLITE_FULL:
		return trouble("the disk is full", fullHint, err)
	case sqlitelib.SQLITE_READONLY, sqlitelib.SQLITE_CANTOPEN, sqlitelib.SQLITE_PERM, sqlitelib.SQLITE_AUTH:
		return trouble("the database cannot be written", "make the home and chela.db writable, or use another --home", err)
	case sqlitelib.SQLITE_CORRUPT, sqlitelib.SQLITE_NOTADB, sqlitelib.SQLITE_FORMAT:
		return trouble("chela.db is damaged or not a database",
			"restore a backup, or move the file away to start afresh; the file was not changed", err)
	case sqlitelib.SQLITE_IOERR:
		return trouble("the disk reported an error", "check the disk of the home", err)
	case sqlitelib.SQLITE_NOMEM, sqlitelib.SQLITE_INTERRUPT:
		return trouble("the database is out of memory", "try again in a moment", err)
	}
	return chela.E(chela.Internal, "the database reported an error").Because(err)
}

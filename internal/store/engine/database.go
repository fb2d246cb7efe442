package engine

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"chela"
)

// Config says where the database is. Exactly one of Path and URL is set.
type Config struct {
	Path string // of an SQLite database; made if it does not exist
	URL  string // of a PostgreSQL database: postgres://…

	// Busy is how long a transaction waits for another process that writes;
	// 0 means 5 s.
	Busy time.Duration
}

// A Database is open. It may be used by several goroutines at once.
type Database struct {
	engine engine
	begun  sync.WaitGroup // transactions

	mu     sync.Mutex
	closed bool // guarded by mu
}

// engine is what the two databases do differently.
type engine interface {
	read(ctx context.Context, fn func(Tx) error) error
	write(ctx context.Context, op string, fn func(Tx) error) error
	migrate(ctx context.Context, m migration) error
	horizon(ctx context.Context) (int64, error)
	close() error // called once, after all transactions
}

// Open opens the database and applies the steps of its schema that are missing:
// the files migrations/*.sql, in order. A database that has a step which is not
// among them is refused with Unsupported and left as it is; a file that is not a
// database, or damaged, is Internal and left as it is.
func Open(ctx context.Context, cfg Config, files fs.FS) (*Database, error) {
	var e engine
	var err error
	if cfg.URL != "" {
		e, err = openPostgres(ctx, cfg)
	} else {
		e, err = openSQLite(ctx, cfg)
	}
	if err != nil {
		return nil, err
	}
	d := &Database{engine: e}
	if err := d.bringUpToDate(ctx, files); err != nil {
		e.close()
		return nil, err
	}
	return d, nil
}

// Close waits for transactions that have begun and closes the database. Those
// that begin later fail with Unavailable. Closing twice does no harm.
func (d *Database) Close() error {
	d.mu.Lock()
	again := d.closed
	d.closed = true
	d.mu.Unlock()
	d.begun.Wait()
	if again {
		return nil
	}
	return d.engine.close()
}

// begin counts a transaction in, unless the database is closed.
func (d *Database) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return chela.E(chela.Unavailable, "the store is closed")
	}
	d.begun.Add(1)
	return nil
}

// Engine returns "sqlite" or "postgres".
func (d *Database) Engine() string {
	if _, ok := d.engine.(*sqlite); ok {
		return "sqlite"
	}
	return "postgres"
}

// Read runs fn in a transaction that sees one moment of the database and cannot
// change it. The error is fn's, or that of the transaction. Fn may run more than
// once, but after it was handed something it does not.
func (d *Database) Read(ctx context.Context, fn func(Tx) error) error {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.begun.Done()
	return d.engine.read(ctx, fn)
}

// Write runs fn in a transaction and returns after its commit was synced, or
// with the error that prevented it; then nothing of it was written, unless the
// error is Unavailable and the connection was lost during the commit. Fn may
// run more than once. Op names the transaction, such as "turn.open".
func (d *Database) Write(ctx context.Context, op string, fn func(Tx) error) error {
	err := d.begin()
	if err == nil {
		defer d.begun.Done()
		err = d.engine.write(ctx, op, fn)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// Horizon returns the number of a transaction before which every one has ended:
// whoever reads after this sees what they wrote. On SQLite, which numbers none,
// it is never reached.
func (d *Database) Horizon(ctx context.Context) (int64, error) { return d.engine.horizon(ctx) }

package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"chela"
)

// Config says where the store is. Exactly one of Path and URL is set.
type Config struct {
	Path string // of an SQLite database; made if it does not exist
	URL  string // of a PostgreSQL database: postgres://…

	// Busy is how long a transaction waits for another process that writes;
	// 0 means 5 s.
	Busy time.Duration
}

// A Store is an open database. It may be used by several goroutines at once.
type Store struct {
	engine engine
	begun  sync.WaitGroup // transactions

	mu     sync.Mutex
	closed bool // guarded by mu
}

// engine is what the two databases do differently.
type engine interface {
	read(ctx context.Context, fn func(*Read) error) error
	write(ctx context.Context, op string, fn func(*Write) error) error
	migrate(ctx context.Context, m migration) error
	horizon(ctx context.Context) (int64, error) // every transaction before it has ended
	close() error                               // called once, after all transactions
}

// Open opens the database and brings its schema up to date. A database that a
// newer version wrote is refused with Unsupported and left as it is; a file
// that is not a database, or damaged, is Internal and left as it is.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	var e engine
	var err error
	if cfg.URL != "" {
		e, err = openPostgres(ctx, cfg)
	} else {
		e, err = openSQLite(ctx, cfg)
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{engine: e}
	if err := s.bringUpToDate(ctx); err != nil {
		e.close()
		return nil, fmt.Errorf("open store: %w", err)
	}
	return s, nil
}

// Close waits for transactions that have begun and closes the database. Those
// that begin later fail with Unavailable. Closing twice does no harm.
func (s *Store) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	s.begun.Wait()
	if again {
		return nil
	}
	return s.engine.close()
}

// begin counts a transaction in, unless the store is closed.
func (s *Store) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return chela.E(chela.Unavailable, "the store is closed")
	}
	s.begun.Add(1)
	return nil
}

// Engine returns "sqlite" or "postgres".
func (s *Store) Engine() string {
	if _, ok := s.engine.(*sqlite); ok {
		return "sqlite"
	}
	return "postgres"
}

// Read runs fn in a transaction that sees one moment of the database. The
// error is fn's, or that of the transaction. Fn may run more than once, but
// after it was handed something it does not.
func (s *Store) Read(ctx context.Context, fn func(*Read) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.begun.Done()
	return s.engine.read(ctx, fn)
}

// Write runs fn in a transaction and returns after its commit was synced, or
// with the error that prevented it; then nothing of it was written, unless the
// error is Unavailable and the connection was lost during the commit. Fn may
// run more than once. Op names the transaction, such as "turn.open".
func (s *Store) Write(ctx context.Context, op string, fn func(*Write) error) error {
	err := s.begin()
	if err == nil {
		defer s.begun.Done()
		err = s.engine.write(ctx, op, fn)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// A Read is a transaction that only reads. It belongs to the goroutine that
// runs the function it was handed to and ends with it.
type Read struct {
	conn conn
}

// A Write is a transaction that may also write.
type Write struct {
	Read
}

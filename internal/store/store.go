package store

import (
	"context"
	"embed"
	"fmt"

	"chela/internal/store/documents"
	"chela/internal/store/engine"
	"chela/internal/store/health"
	"chela/internal/store/jobs"
	"chela/internal/store/rewinds"
	"chela/internal/store/routines"
	"chela/internal/store/rows"
	"chela/internal/store/tokens"
	"chela/internal/store/work"
)

// Config says where the store is. Exactly one of Path and URL is set.
type Config = engine.Config

// A Store is an open database. It may be used by several goroutines at once.
type Store struct {
	db *engine.Database
}

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens the database and brings its schema up to date. A database that a
// newer version wrote is refused with Unsupported and left as it is; a file
// that is not a database, or damaged, is Internal and left as it is.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	db, err := engine.Open(ctx, cfg, migrations)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return &Store{db: db}, nil
}

// Close waits for transactions that have begun and closes the database. Those
// that begin later fail with Unavailable. Closing twice does no harm.
func (s *Store) Close() error { return s.db.Close() }

// Engine returns "sqlite" or "postgres".
func (s *Store) Engine() string { return s.db.Engine() }

// Read runs fn in a transaction that sees one moment of the database. The
// error is fn's, or that of the transaction. Fn may run more than once, but
// after it was handed something it does not.
func (s *Store) Read(ctx context.Context, fn func(*Read) error) error {
	return s.db.Read(ctx, func(tx engine.Tx) error { return fn(reading(tx)) })
}

// Find is Read for a function that finds one thing, and returns it.
func Find[T any](ctx context.Context, s *Store, fn func(*Read) (T, error)) (found T, err error) {
	err = s.Read(ctx, func(r *Read) error {
		found, err = fn(r)
		return err
	})
	return found, err
}

// Write runs fn in a transaction and returns after its commit was synced, or
// with the error that prevented it; then nothing of it was written, unless the
// error is Unavailable and the connection was lost during the commit. Fn may
// run more than once. Op names the transaction, such as "turn.open".
func (s *Store) Write(ctx context.Context, op string, fn func(*Write) error) error {
	return s.db.Write(ctx, op, func(tx engine.Tx) error { return fn(writing(tx)) })
}

// A Read is a transaction that only reads. It belongs to the goroutine that
// runs the function it was handed to and ends with it.
type Read struct {
	tx rows.Tx
	readDocuments
	readHealth
	readJobs
	readRewinds
	readRoutines
	readTokens
	readWork
}

// A Write is a transaction that may also write.
type Write struct {
	Read
	writeDocuments
	writeHealth
	writeJobs
	writeRewinds
	writeRoutines
	writeTokens
	writeWork
}

// Nouns with a package of their own. Their methods are those of a transaction.
type (
	readDocuments  = documents.Read
	readHealth     = health.Read
	readJobs       = jobs.Read
	readRewinds    = rewinds.Read
	readRoutines   = routines.Read
	readTokens     = tokens.Read
	readWork       = work.Read
	writeDocuments = documents.Write
	writeHealth    = health.Write
	writeJobs      = jobs.Write
	writeRewinds   = rewinds.Write
	writeRoutines  = routines.Write
	writeTokens    = tokens.Write
	writeWork      = work.Write

	// A Stretch is what one turn added to a path.
	Stretch = rewinds.Stretch

	// A JobFilter says which jobs are meant.
	JobFilter = jobs.Filter

	// A RoutineCause is something that makes a routine fire.
	RoutineCause = routines.Cause

	// A RoutineStamp differs when the routines that a message makes fire are
	// others.
	RoutineStamp = routines.Stamp

	// A Login is a cookie that stands for a token.
	Login = tokens.Login

	// A WorkClaim says what work a node wants to perform.
	WorkClaim = work.Claim
)

func reading(of engine.Tx) *Read {
	tx := rows.Tx{Tx: of}
	return &Read{
		tx, documents.Reading(tx), health.Reading(tx), jobs.Reading(tx), rewinds.Reading(tx), routines.Reading(tx), tokens.Reading(tx), work.Reading(tx),
	}
}

func writing(of engine.Tx) *Write {
	tx := rows.Tx{Tx: of}
	return &Write{
		*reading(of), documents.Writing(tx), health.Writing(tx), jobs.Writing(tx), rewinds.Writing(tx), routines.Writing(tx), tokens.Writing(tx), work.Writing(tx),
	}
}

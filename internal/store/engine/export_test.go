package engine

import (
	"context"
	"errors"
)

// Control lets tests run a statement on the connection that writes, outside
// transactions. Nobody may use the database meanwhile.
func Control(d *Database, statement string) error { return d.engine.(*sqlite).control(statement) }

// Idle returns how many connections to PostgreSQL wait to be used.
func Idle(d *Database) int { return int(d.engine.(*postgres).pool.Stat().IdleConns()) }

// LeaveOpen begins a transaction on every connection, as if it could not be
// ended. Nobody may use the database meanwhile.
func LeaveOpen(d *Database) error {
	e := d.engine.(*sqlite)
	errs := []error{e.control("begin")}
	for range maxReaders {
		conn := <-e.readers
		_, err := conn.exec(context.Background(), "begin")
		errs = append(errs, err)
		e.readers <- conn
	}
	return errors.Join(errs...)
}

// ClassifySQLiteCode and ClassifyPostgres are the classification of errors.
var (
	ClassifySQLiteCode = classifySQLiteCode
	ClassifyPostgres   = classifyPostgres
)

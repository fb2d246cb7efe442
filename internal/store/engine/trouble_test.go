package engine_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	sqlitelib "modernc.org/sqlite/lib"

	"chela"
	"chela/internal/store/engine"
)

// TestTroubleIsUnavailable: errors that are the database's own are Unavailable with
// a hint, so that no surface takes them for a refusal of the request; others are
// not.
func TestTroubleIsUnavailable(t *testing.T) {
	t.Parallel()
	type want struct {
		kind    chela.Kind
		trouble bool
	}
	own := want{chela.Unavailable, true}
	check := func(t *testing.T, name any, err error, w want) {
		t.Helper()
		if got := (want{chela.KindOf(err), errors.Is(err, engine.ErrTrouble)}); got != w || w.trouble && chela.HintOf(err) == "" {
			t.Errorf("%v: %+v, hint %q, want %+v", name, got, chela.HintOf(err), w)
		}
	}
	for code, w := range map[int]want{
		sqlitelib.SQLITE_READONLY: own, sqlitelib.SQLITE_READONLY_DBMOVED: own, sqlitelib.SQLITE_READONLY_DIRECTORY: own,
		sqlitelib.SQLITE_FULL: own, sqlitelib.SQLITE_IOERR: own, sqlitelib.SQLITE_IOERR_WRITE: own, sqlitelib.SQLITE_IOERR_FSYNC: own,
		sqlitelib.SQLITE_IOERR_SHMSIZE: own, sqlitelib.SQLITE_CORRUPT: own, sqlitelib.SQLITE_CORRUPT_INDEX: own, sqlitelib.SQLITE_NOTADB: own,
		sqlitelib.SQLITE_CANTOPEN: own, sqlitelib.SQLITE_BUSY: own, sqlitelib.SQLITE_BUSY_SNAPSHOT: own, sqlitelib.SQLITE_LOCKED: own,
		sqlitelib.SQLITE_PROTOCOL: own, sqlitelib.SQLITE_NOMEM: own, sqlitelib.SQLITE_PERM: own, sqlitelib.SQLITE_FORMAT: own,
		sqlitelib.SQLITE_CONSTRAINT_UNIQUE: {chela.Conflict, false}, sqlitelib.SQLITE_MISUSE: {chela.Internal, false}, sqlitelib.SQLITE_ERROR: {chela.Internal, false},
	} {
		check(t, code, engine.ClassifySQLiteCode(code, errors.New("cause")), w)
	}
	for code, w := range map[string]want{
		"53100": own, "53200": own, "53300": own, "53000": own, "57P01": own, "57P02": own, "57P03": own, "57014": own, "08006": own, "08001": own,
		"25006": own, "25P03": own, "55P03": own, "40001": own, "40P01": own, "58030": own, "58P01": own, "XX001": own, "XX002": own,
		"28P01": own, "28000": own, "3D000": own, "42501": own, "42P01": own,
		"23505": {chela.Conflict, false}, "42601": {chela.Internal, false}, "25001": {chela.Internal, false}, "22012": {chela.Internal, false}, "X": {chela.Internal, false},
	} {
		check(t, code, engine.ClassifyPostgres(&pgconn.PgError{Code: code}), w)
	}
}

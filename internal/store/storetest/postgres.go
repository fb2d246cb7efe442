package storetest

import (
	"context"
	"testing"

	"chela/internal/platform/pgtest"
	"chela/internal/store"
)

// tables are those of a store on PostgreSQL.
var tables = pgtest.NewTemplate(func(url string) error {
	s, err := store.Open(context.Background(), store.Config{URL: url})
	if err != nil {
		return err
	}
	return s.Close()
})

// Postgres returns where an empty store on PostgreSQL is, which is removed when t
// ends. Its tables are copied from those that were made for the first such
// store of the test process. Like [pgtest.URL] it skips or fails t without
// PostgreSQL.
func Postgres(t testing.TB) store.Config {
	t.Helper()
	return store.Config{URL: tables.URL(t)}
}

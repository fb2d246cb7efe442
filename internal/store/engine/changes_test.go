package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"chela/internal/platform/pgtest"
	"chela/internal/store/engine"
)

// mustOpen opens a database that is closed when t ends.
func mustOpen(t *testing.T, cfg engine.Config) *engine.Database {
	t.Helper()
	d, err := open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// change runs a transaction that writes rows of topic 0, and returns its error.
func change(t *testing.T, d *engine.Database, err error) error {
	t.Helper()
	return d.Write(t.Context(), "test.change", func(tx engine.Tx) error {
		return errors.Join(tx.Changed(t.Context(), 0), err)
	})
}

// until waits for a number of changes that is reliable and not the previous one.
func until(t *testing.T, d *engine.Database, previous int64) int64 {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		if n, ok := d.Changes(t.Context(), 0); ok && n != previous {
			return n
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatal("the number of changes stayed the same")
		}
	}
}

func TestChangesOfOneProcess(t *testing.T) {
	t.Parallel()
	d := mustOpen(t, engine.Config{Path: t.TempDir() + "/chela.db"})
	before, ok := d.Changes(t.Context(), 0)
	if !ok {
		t.Fatal("the numbers of a SQLite database are not reliable")
	}
	if err := d.Write(t.Context(), "test.other", create("a")); err != nil {
		t.Fatal(err)
	}
	if n, _ := d.Changes(t.Context(), 0); n != before {
		t.Error("a write of other rows changed the number")
	}
	for _, cause := range []error{nil, errors.New("changed my mind")} {
		if err := change(t, d, cause); !errors.Is(err, cause) {
			t.Fatal(err)
		}
		n, ok := d.Changes(t.Context(), 0)
		if n == before || !ok {
			t.Errorf("the number is %d before and %d (%v) after a write that ended with %v", before, n, ok, cause)
		}
		before = n
	}
	if n, _ := d.Changes(t.Context(), 1); n != 0 {
		t.Errorf("the number of another topic is %d", n)
	}
}

// TestChangesOfOtherProcesses arrive as notifications; while those may be lost, the
// number is not reliable, and it is a different one afterwards.
func TestChangesOfOtherProcesses(t *testing.T) {
	t.Parallel()
	cfg := engine.Config{URL: pgtest.URL(t)}
	one, other := mustOpen(t, cfg), mustOpen(t, cfg)
	n := until(t, one, -1)
	until(t, other, -1)
	if err := change(t, one, nil); err != nil {
		t.Fatal(err)
	}
	if now, ok := one.Changes(t.Context(), 0); ok && now == n {
		t.Error("the number is the same after a write of this process")
	}
	n, _ = one.Changes(t.Context(), 0)
	if err := change(t, other, nil); err != nil {
		t.Fatal(err)
	}
	n = until(t, one, n)

	admin, err := pgx.Connect(t.Context(), cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context()))
	_, err = admin.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen chela_changes'`)
	if err != nil {
		t.Fatal(err)
	}
	until(t, one, n)
}

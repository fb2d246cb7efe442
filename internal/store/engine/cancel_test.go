package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"chela/internal/platform/pgtest"
	"chela/internal/store/engine"
)

// TestReadThatIsGivenUp ends with the reason that it was given up for, and the
// other connections stay.
func TestReadThatIsGivenUp(t *testing.T) {
	t.Parallel()
	d, err := open(t.Context(), engine.Config{URL: pgtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	err = d.Read(t.Context(), func(engine.Tx) error { // three at once
		return d.Read(t.Context(), func(engine.Tx) error { return d.Read(t.Context(), query(t.Context(), "select 1")) })
	})
	if err != nil {
		t.Fatal(err)
	}
	before := engine.Idle(d)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := d.Read(ctx, query(ctx, "select cast(pg_sleep(20) as text)")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a read that was given up: %v", err)
	}
	if after := engine.Idle(d); before < 3 || after < before-1 {
		t.Errorf("of %d connections %d are left", before, after)
	}
}

// TestWriteThatIsGivenUp was cancelled while it has to run again. Its error is the
// reason, and not the one that asks for the repetition.
func TestWriteThatIsGivenUp(t *testing.T) {
	t.Parallel()
	d, err := open(t.Context(), engine.Config{URL: pgtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	runs := 0
	err = d.Write(ctx, "test.write", func(tx engine.Tx) error {
		runs++
		cancel()
		return tx.Queue(ctx, engine.Statement{Text: `delete from tokens where false`, Unmoved: engine.ErrRepeat})
	})
	if !errors.Is(err, context.Canceled) || runs != 1 {
		t.Errorf("a write that was given up ran %d times: %v", runs, err)
	}
}

// query returns a function that runs a statement and takes no heed of its rows.
func query(ctx context.Context, text string) func(engine.Tx) error {
	return func(tx engine.Tx) error {
		return tx.Query(ctx, func(engine.Row) error { return nil }, text)
	}
}

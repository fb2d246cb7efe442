package work_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"chela"
	"chela/internal/background/work"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// TestStoreDoesNotWork: while another process keeps the database to itself, the
// outcome of an attempt cannot be stored and nothing can be claimed. Afterwards the
// attempt is made again, without counting, and the log has told once.
func TestStoreDoesNotWork(t *testing.T) {
	t.Parallel()
	cfg := places["sqlite"](t)
	cfg.Busy = time.Millisecond
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // the test looks at what was stored
	db, err := sql.Open("sqlite", cfg.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // a connection of a test
	keep, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := func(statement string) {
		if _, err := keep.ExecContext(t.Context(), statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	var log strings.Builder
	e := work.New(s, work.Config{
		Process: local.Process{Node: "node_a", IDs: ids(), Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))},
		Random:  func() float64 { return 0 },
	})
	e.Stay()
	add(t, s, e, "x")
	var attempts []int
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	running.Go(func() {
		err := e.Run(ctx, work.Kind{Name: "probe", Handle: func(_ context.Context, k chela.Work) (work.Outcome, error) {
			attempts = append(attempts, k.Attempts)
			if len(attempts) == 1 {
				run("begin immediate")
				time.AfterFunc(1500*time.Millisecond, func() { run("rollback") })
			}
			return work.Outcome{}, nil
		}})
		if err != nil {
			t.Error(err)
		}
	})
	untilGone(t, s, "x")
	e.Settle(ctx)
	cancel()
	running.Wait()
	if fmt.Sprint(attempts) != "[1 1]" {
		t.Errorf("attempts %v, want the first one twice", attempts)
	}
	for text, want := range map[string]int{"outcome of work not stored": 1, "poll for work failed": 1} {
		if n := strings.Count(log.String(), text); n != want {
			t.Errorf("%q is logged %d times, want %d:\n%s", text, n, want, log.String())
		}
	}
	if err := keep.Close(); err != nil {
		t.Error(err)
	}
}

// TestWaitingCostsNoGoroutine: it runs alone, as it counts those of the process.
func TestWaitingCostsNoGoroutine(t *testing.T) {
	s, err := store.Open(t.Context(), places["sqlite"](t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // nothing is asked of it any more
	e := engine(s)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() {
		if err := e.Run(ctx, work.Kind{Name: "probe", Handle: func(context.Context, chela.Work) (work.Outcome, error) { return work.Outcome{}, nil }}); err != nil {
			t.Error(err)
		}
	})
	e.Settle(ctx)
	before := runtime.NumGoroutine()
	later := time.Now().Add(time.Hour)
	fill(t, s, e, 10_000, func(n int) chela.Work { return chela.Work{Kind: "probe", Key: fmt.Sprint(n), DueAt: later} })
	e.Settle(ctx)
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}

func add(t *testing.T, s *store.Store, e *work.Engine, key string) {
	t.Helper()
	err := s.Write(t.Context(), "test", func(w *store.Write) error {
		_, err := e.Add(t.Context(), w, chela.Work{Kind: "probe", Key: key})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// untilGone waits until a piece of work is done.
func untilGone(t *testing.T, s *store.Store, key string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for is := true; is; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it is not done")
		}
		err := s.Read(ctx, func(r *store.Read) (err error) {
			_, is, err = r.LiveWork(ctx, "probe", key)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

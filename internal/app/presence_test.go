package app_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"chela"
	"chela/internal/app"
	"chela/internal/store"
)

// TestDeadWorkerIsSeen: the file that shows that a process is dead stays while it
// has work, so that others need not wait until its claim is over.
func TestDeadWorkerIsSeen(t *testing.T) {
	t.Parallel()
	cfg := newHome(t, echoes)
	a, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), "test")
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Config{Path: cfg.Home.Database()})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	err = s.Write(t.Context(), "test", func(w *store.Write) error {
		k := chela.Work{ID: "work_1", Kind: "k", Key: "k", State: chela.WorkDue, DueAt: now}
		if err := w.SetWork(t.Context(), k); err != nil {
			return err
		}
		_, err := w.ClaimWork(t.Context(), store.WorkClaim{Node: "node_worker", Kind: "k", Now: now, Until: now.Add(time.Hour), Limit: 1})
		return err
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	for node, stays := range map[string]bool{"node_worker": true, "node_idle": false} {
		if err := os.WriteFile(filepath.Join(cfg.Home.Run(), node), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if _, err := os.Stat(filepath.Join(cfg.Home.Run(), node)); (err == nil) != stays {
				t.Errorf("file of %s: %v, want it: %t", node, err, stays)
			}
		}()
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

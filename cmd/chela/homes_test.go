package main_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"chela/internal/engine/prompt"
	"chela/internal/memory"
	"chela/internal/platform/pgtest"
	"chela/internal/store"
)

// engines are the databases, each as a maker of the URL of a fresh one.
var engines = map[string]func(t *testing.T) string{
	"sqlite":   func(*testing.T) string { return "" },
	"postgres": func(t *testing.T) string { return pgtest.URL(t) },
}

// templates are the databases of a home in which nothing was said yet.
var (
	templateFile = sync.OnceValues(func() ([]byte, error) {
		dir, err := builds()
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, "chela.db")
		if err := furnish(store.Config{Path: path}); err != nil {
			return nil, err
		}
		return os.ReadFile(path)
	})
	templateDatabase = pgtest.NewTemplate(func(url string) error { return furnish(store.Config{URL: url}) })
)

// furnish makes the tables and the first documents, as the first process on a
// home does.
func furnish(cfg store.Config) error {
	ctx := context.Background()
	s, err := store.Open(ctx, cfg)
	if err != nil {
		return err
	}
	known := func(string) error { return nil }
	_, err = memory.New(s, memory.Config{Now: time.Now, Zone: time.UTC, Count: prompt.Count, Agent: known}).Seed(ctx, "main")
	return errors.Join(err, s.Close())
}

// furnished makes the database of a home in which nothing was said yet, and
// returns its URL, which is empty for SQLite.
func furnished(t *testing.T, engine, home string) (url string) {
	t.Helper()
	if engine == "postgres" {
		return templateDatabase.URL(t)
	}
	raw, err := templateFile()
	if err == nil {
		err = errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(filepath.Join(home, "chela.db"), raw, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return ""
}

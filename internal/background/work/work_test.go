package work_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"chela/internal/background/work/worktest"
	"chela/internal/store"
	"chela/internal/store/storetest"
)

// TestMain makes the process a worker if it is a child of a test.
func TestMain(m *testing.M) {
	if place := os.Getenv(where); place != "" {
		os.Exit(child(place))
	}
	goleak.VerifyTestMain(m)
}

// places are the two databases that everything is shown on.
var places = map[string]func(t testing.TB) store.Config{
	"sqlite":   func(t testing.TB) store.Config { return store.Config{Path: filepath.Join(t.TempDir(), "chela.db")} },
	"postgres": storetest.Postgres,
}

func TestContract(t *testing.T) {
	t.Parallel()
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worktest.Run(t, place)
		})
	}
}

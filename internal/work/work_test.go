package work_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"chela/internal/store"
	"chela/internal/store/storetest"
	"chela/internal/work/worktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

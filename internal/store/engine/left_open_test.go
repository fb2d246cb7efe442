package engine_test

import (
	"path/filepath"
	"testing"

	"chela/internal/store/engine"
)

// TestTransactionsThatWereNotEnded leaves one open on every connection. Those
// that come after are none the worse for it.
func TestTransactionsThatWereNotEnded(t *testing.T) {
	t.Parallel()
	d, err := open(t.Context(), engine.Config{Path: filepath.Join(t.TempDir(), "chela.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := engine.LeaveOpen(d); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(t.Context(), "test", create("a")); err != nil {
		t.Error(err)
	}
	for range 8 { // more than there are connections
		wantKeys(t, d, "a")
	}
}

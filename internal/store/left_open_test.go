package store_test

import (
	"testing"

	"chela/internal/store"
)

// TestTransactionsThatWereNotEnded leaves one open on every connection. Those
// that come after are none the worse for it.
func TestTransactionsThatWereNotEnded(t *testing.T) {
	t.Parallel()
	s := open(t, sqlite.place(t))
	if err := store.LeaveOpen(s); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), "test", create("a")); err != nil {
		t.Error(err)
	}
	for range 8 { // more than there are connections
		wantKeys(t, s, "a")
	}
}

package app

import (
	"path/filepath"
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// TestProbeIsShared: an outcome of a probe holds for a second, and then the database
// is written again.
func TestProbeIsShared(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "chela.db")})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	p := probe{store: s, now: func() time.Time { return now }}
	if err := p.check(t.Context()); err != nil {
		t.Errorf("a database that works: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	now = now.Add(probeTime - time.Millisecond)
	if err := p.check(t.Context()); err != nil {
		t.Errorf("within a second: %v", err)
	}
	now = now.Add(time.Millisecond)
	if err := p.check(t.Context()); chela.KindOf(err) != chela.Unavailable {
		t.Errorf("a second later: %v, want Unavailable", err)
	}
}

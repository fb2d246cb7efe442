package store_test

import (
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

// hold begins a transaction in a second connection that keeps others out, and
// returns what ends it.
func hold(t testing.TB, place store.Config, begin string) (release func()) {
	t.Helper()
	conn, err := sqlite.raw(t, place).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := func(statement string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	run(begin)
	return func() {
		t.Helper()
		run("rollback")
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// soon fails t unless fn returns within a time that is far longer than the
// patience of the stores in these tests, and far shorter than the usual one.
func soon(t testing.TB, fn func()) {
	t.Helper()
	begun := time.Now()
	fn()
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("took %v", took)
	}
}

const shortPatience = 50 * time.Millisecond

func TestOpenLockedDatabase(t *testing.T) {
	t.Parallel()
	place := sqlite.place(t)
	place.Busy = shortPatience
	release := hold(t, place, "begin exclusive")
	soon(t, func() {
		if err := refuseToOpen(t, place, chela.Unavailable); chela.HintOf(err) == "" {
			t.Errorf("no hint: %v", err)
		}
	})
	release()
	wantKeys(t, open(t, place))
}

func TestWriteLockedDatabase(t *testing.T) {
	t.Parallel()
	place := sqlite.place(t)
	place.Busy = shortPatience
	s := open(t, place)
	if err := s.Write(t.Context(), "test", create("a")); err != nil {
		t.Fatal(err)
	}
	release := hold(t, place, "begin exclusive")
	soon(t, func() {
		wantKinds(t, []error{s.Write(t.Context(), "test", create("b"))}, chela.Unavailable)
	})
	wantKeys(t, s, "a") // who reads is not kept out
	wantKeys(t, open(t, place), "a")
	release()
	wantKinds(t, []error{s.Write(t.Context(), "test", create("c"))}, "")
	wantKeys(t, s, "a", "c")
}

// TestWritersWaitForEachOther has two stores write to one file.
func TestWritersWaitForEachOther(t *testing.T) {
	t.Parallel()
	place := sqlite.place(t)
	first, second := open(t, place), open(t, place)
	release := hold(t, place, "begin immediate")
	told := make(chan error, 2)
	go func() { told <- first.Write(t.Context(), "test", create("a")) }()  // told is awaited below
	go func() { told <- second.Write(t.Context(), "test", create("b")) }() // likewise
	release()
	wantKinds(t, []error{<-told, <-told}, "", "")
	wantKeys(t, first, "a", "b")
}

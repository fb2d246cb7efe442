//go:build unix

package datadir

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"chela"
)

// inherit starts a process that has a file open, as the child of a killed daemon has
// between fork and exec, and returns what ends it.
func inherit(t *testing.T, f *os.File) (end func()) {
	t.Helper()
	child := exec.CommandContext(t.Context(), "cat")
	child.ExtraFiles = []*os.File{f}
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stdout = io.Discard
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil { // as the daemon does that is killed
		t.Fatal(err)
	}
	return func() {
		if err := input.Close(); err != nil {
			t.Error(err)
		}
		if err := child.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// TestInheritedLockIsWaitedFor: a daemon starts right after another one was killed,
// though a child of that one still has the lock.
func TestInheritedLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := os.OpenFile(filepath.Join(dir, "daemon.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := tryLock(f); err != nil {
		t.Fatal(err)
	}
	end, waits := inherit(t, f), 0
	held, err := Take(t.Context(), dir, func(context.Context, time.Duration) error {
		if waits++; waits == 3 {
			end()
		}
		return nil
	})
	if err != nil || waits != 3 {
		t.Fatalf("after %d waits: %v", waits, err)
	}
	var waited time.Duration
	_, err = Take(t.Context(), dir, func(_ context.Context, d time.Duration) error {
		waited += d
		return nil
	})
	if chela.KindOf(err) != chela.Conflict || waited != time.Second {
		t.Errorf("beside a daemon that lives: %v after %v, want a Conflict after a second", err, waited)
	}
	if err := held.Release(); err != nil {
		t.Error(err)
	}
}

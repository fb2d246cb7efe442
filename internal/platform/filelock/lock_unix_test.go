//go:build unix

package filelock_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"chela/internal/platform/filelock"
)

// A child that was forked meanwhile has the file open, as a second descriptor
// of the same process does.
func TestReleaseAsksNoChild(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	holder := opened(t, path)
	if err := filelock.Lock(holder); err != nil {
		t.Fatal(err)
	}
	child, err := unix.Dup(int(holder.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(child)
	if err := filelock.Release(holder); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryLock(opened(t, path)); err != nil {
		t.Errorf("lock a file that was let go: %v", err)
	}
}

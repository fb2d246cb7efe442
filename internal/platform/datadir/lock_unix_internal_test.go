//go:build unix

package datadir

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A child that was forked meanwhile has the file open, as a second descriptor
// of the same process does.
func TestReleaseAsksNoChild(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	holder := opened(t, path)
	if err := lockFile(holder); err != nil {
		t.Fatal(err)
	}
	child, err := unix.Dup(int(holder.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(child)
	if err := release(holder); err != nil {
		t.Fatal(err)
	}
	if err := tryLock(opened(t, path)); err != nil {
		t.Errorf("lock a file that was let go: %v", err)
	}
}

package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// opened opens a file anew, as another process would.
func opened(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestTryLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	holder, other := opened(t, path), opened(t, path)
	if err := tryLock(holder); err != nil {
		t.Fatal(err)
	}
	if err := tryLock(other); err == nil {
		t.Error("two have one lock")
	}
	if _, err := other.WriteString("held"); err != nil {
		t.Errorf("write a locked file: %v", err)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "held" {
		t.Errorf("read %q of a locked file: %v", raw, err)
	}
	if err := tryLock(opened(t, path+".other")); err != nil {
		t.Errorf("lock another file: %v", err)
	}
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	if err := tryLock(other); err != nil {
		t.Errorf("lock a file that was let go: %v", err)
	}
}

// TestLockWaits lets several wait for one who has the lock.
func TestLockWaits(t *testing.T) {
	t.Parallel()
	const waiting = 8
	path := filepath.Join(t.TempDir(), "lock")
	holder := opened(t, path)
	if err := lockFile(holder); err != nil {
		t.Fatal(err)
	}
	var letGo atomic.Bool
	began, ended := make(chan struct{}), make(chan error)
	for range waiting {
		f := opened(t, path)
		go func() { // waited for below
			began <- struct{}{}
			err := lockFile(f)
			if !letGo.Load() {
				t.Error("two have one lock")
			}
			ended <- errors.Join(err, f.Close())
		}()
	}
	for range waiting {
		<-began
	}
	letGo.Store(true)
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	for range waiting {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestClosedFile(t *testing.T) {
	t.Parallel()
	f := opened(t, filepath.Join(t.TempDir(), "lock"))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if lockFile(f) == nil || tryLock(f) == nil {
		t.Error("a closed file was locked")
	}
}

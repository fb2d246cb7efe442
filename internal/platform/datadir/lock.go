package datadir

import (
	"errors"
	"os"
)

// A lock belongs to the open file: the operating system releases it when the file
// is closed, at the latest when the process ends. A forked child that has not yet
// executed its program has the file open too, so a process that unlocks and
// continues must call release. The locks are advisory: processes that do not lock
// may still read and write the file.

// lockFile locks a file, and blocks while another open file holds the lock. An
// error is the operating system's, of no kind.
func lockFile(f *os.File) error { return flock(f, true) }

// tryLock locks a file if that is possible at once. Otherwise it returns the
// operating system's error, of no kind.
func tryLock(f *os.File) error { return flock(f, false) }

// release releases the lock of a file, if it holds one, and closes the file.
func release(f *os.File) error { return errors.Join(funlock(f), f.Close()) }

// Lock locks the file at path, which it creates if it is missing, and blocks while
// another process holds the lock. It returns the function that releases it.
func Lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error { return release(f) }, nil
}

// TryLock is Lock if no other process holds the lock; otherwise it is not ok.
func TryLock(path string) (unlock func() error, ok bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	if tryLock(f) != nil {
		return nil, false, f.Close()
	}
	return func() error { return release(f) }, true, nil
}

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

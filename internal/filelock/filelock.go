// Package filelock locks files between processes. A lock belongs to the open
// file: the operating system lets go of it when that is closed, which happens
// at the latest when the process ends, however it ends. A child that was forked
// and does not run its program yet has the file open too, so whoever lets go
// of a lock and goes on calls [Release]. A lock binds only those who ask for it;
// anybody may still read and write the file.
package filelock

import (
	"errors"
	"os"
)

// Lock takes the lock of a file, and waits while another open file has it. An
// error is the operating system's, of no kind.
func Lock(f *os.File) error { return lock(f, true) }

// TryLock takes the lock of a file if that is possible at once. Else it returns
// the operating system's error, of no kind.
func TryLock(f *os.File) error { return lock(f, false) }

// Release lets go of the lock of a file, if it has one, and closes it.
func Release(f *os.File) error { return errors.Join(unlock(f), f.Close()) }

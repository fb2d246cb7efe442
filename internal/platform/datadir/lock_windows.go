package datadir

import (
	"os"

	"golang.org/x/sys/windows"
)

func flock(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	// The locked range lies after the text of the file, so that others can read
	// it.
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{Offset: 1 << 30})
}

// funlock does nothing: closing the file releases the lock, and no child has it
// open.
func funlock(*os.File) error { return nil }

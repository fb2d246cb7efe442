package app

import (
	"context"
	"net"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile takes a lock that the operating system lets go of when the process
// ends, and reports whether nobody had it.
func lockFile(f *os.File) bool {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	// What is locked lies behind the text of the file, so that others can read it.
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: 1 << 30}) == nil
}

// listenPrivately listens on a Unix socket. It gets the rights of its folder,
// which is the owner's.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "unix", path)
}

//go:build unix

package app

import (
	"context"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockFile takes a lock that the operating system lets go of when the process
// ends, and reports whether nobody had it.
func lockFile(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }

// listenPrivately listens on a Unix socket that only the owner can open, from the
// moment it is there.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	old := syscall.Umask(0o077)
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	syscall.Umask(old)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

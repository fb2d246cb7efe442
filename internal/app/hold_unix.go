//go:build unix

package app

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockFile takes a lock that the operating system lets go of when the process
// ends, and reports whether nobody had it.
func lockFile(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }

// privately calls make so that only the owner can open the files it makes.
func privately(make func() error) error {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	return make()
}

//go:build unix

package presence

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes an exclusive lock that the operating system lets go of when
// the process ends.
func lockFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

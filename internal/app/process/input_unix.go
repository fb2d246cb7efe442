//go:build unix

package process

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Arrives waits for something, or its end, to come from f, and reports whether
// it did. It takes nothing.
func Arrives(f *os.File, within time.Duration) bool {
	polled := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(polled, int(within.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return n > 0 || err != nil // whoever reads will tell what is wrong
		}
	}
}

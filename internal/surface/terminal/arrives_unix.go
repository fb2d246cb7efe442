//go:build unix

package terminal

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// InputArrives waits for data or EOF on f, and reports whether either arrived. It
// consumes nothing.
func InputArrives(f *os.File, within time.Duration) bool {
	polled := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(polled, int(within.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return n > 0 || err != nil // the reader will report the error
		}
	}
}

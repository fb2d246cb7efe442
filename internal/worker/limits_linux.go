package worker

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// setLimits sets the resource limits of the worker, which the shell inherits,
// and returns a function that gives the worker back its own number of
// processes: at the limit, Go could not start a thread, and the worker would
// end with the command still running. The command cannot raise its own again;
// see filterFor.
func setLimits(o Order) (restore func(), err error) {
	hard := map[int]uint64{
		unix.RLIMIT_CORE:   0,
		unix.RLIMIT_CPU:    uint64(o.Limits.CPU / time.Second),
		unix.RLIMIT_DATA:   uint64(o.Limits.Memory),
		unix.RLIMIT_FSIZE:  uint64(o.Limits.FileSize),
		unix.RLIMIT_NOFILE: uint64(o.Limits.OpenFiles),
	}
	for resource, n := range hard {
		if err := lower(resource, n); err != nil {
			return nil, err
		}
	}
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &own); err != nil {
		return nil, fmt.Errorf("read the limit of processes: %w", err)
	}
	soft := unix.Rlimit{Cur: min(uint64(o.Limits.Processes), own.Max), Max: own.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &soft); err != nil {
		return nil, fmt.Errorf("limit processes: %w", err)
	}
	return func() {
		// Raising a soft limit below its unchanged hard one cannot fail.
		_ = unix.Setrlimit(unix.RLIMIT_NPROC, &own)
	}, nil
}

// lower sets both values of a limit to n, or to what they are if that is less.
func lower(resource int, n uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return fmt.Errorf("read resource limit %d: %w", resource, err)
	}
	n = min(n, now.Max)
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n}); err != nil {
		return fmt.Errorf("set resource limit %d: %w", resource, err)
	}
	return nil
}

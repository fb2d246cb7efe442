package worker

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// guarded are the limits that would hit the worker too: without room for
// another process Go cannot start a thread, without memory it ends, and the
// command would go on without a supervisor. Only their soft values are
// lowered, while the shell is started; that the command does not raise them
// again is up to the filter.
var guarded = []int{unix.RLIMIT_NPROC, unix.RLIMIT_DATA}

// setLimits sets the resource limits of the worker, which the shell inherits,
// and returns a function that gives the worker back the guarded ones.
func setLimits(o Order) (restore func(), err error) {
	limits := map[int]uint64{
		unix.RLIMIT_CORE:   0,
		unix.RLIMIT_CPU:    uint64(o.Limits.CPU / time.Second),
		unix.RLIMIT_DATA:   uint64(o.Limits.Memory),
		unix.RLIMIT_FSIZE:  uint64(o.Limits.FileSize),
		unix.RLIMIT_NOFILE: uint64(o.Limits.OpenFiles),
		unix.RLIMIT_NPROC:  uint64(o.Limits.Processes),
	}
	before := make(map[int]unix.Rlimit)
	for resource, n := range limits {
		var own unix.Rlimit
		if err := unix.Getrlimit(resource, &own); err != nil {
			return nil, fmt.Errorf("read resource limit %d: %w", resource, err)
		}
		n = min(n, own.Max)
		lowered := unix.Rlimit{Cur: n, Max: n}
		if slices.Contains(guarded, resource) {
			lowered.Max = own.Max
			before[resource] = own
		}
		if err := unix.Setrlimit(resource, &lowered); err != nil {
			return nil, fmt.Errorf("set resource limit %d: %w", resource, err)
		}
	}
	return func() {
		for resource, own := range before {
			// Raising a soft limit below its unchanged hard one cannot fail.
			_ = unix.Setrlimit(resource, &own)
		}
	}, nil
}

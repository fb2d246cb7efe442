package bench_test

import (
	"os"
	"syscall"
)

// resident returns the most memory of an ended process that was resident at
// once, in bytes.
func resident(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}

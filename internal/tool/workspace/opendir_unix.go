//go:build unix

package workspace

import "syscall"

// Flags with which files are opened whose names other programs may replace: openDir
// opens folders alone, noBlock does not wait for the writer of a FIFO.
const (
	openDir = syscall.O_DIRECTORY
	noBlock = syscall.O_NONBLOCK
)

//go:build !linux

package process

import "runtime/debug"

// GiveBack gives back the memory that only starting needed.
func GiveBack() { debug.FreeOSMemory() }

//go:build !linux

package app

import "runtime/debug"

// giveBack gives back the memory that only starting needed.
func giveBack() { debug.FreeOSMemory() }

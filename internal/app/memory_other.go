//go:build !linux

package app

import "runtime/debug"

// giveBackMemory returns memory that is not in use to the system.
func giveBackMemory() { debug.FreeOSMemory() }

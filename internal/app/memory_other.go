//go:build !linux

package app

import "runtime/debug"

// GiveBackMemory returns memory used only during startup to the system.
func GiveBackMemory() { debug.FreeOSMemory() }

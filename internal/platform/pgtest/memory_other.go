//go:build !linux

package pgtest

// inMemory returns "": there is no folder in memory.
func inMemory() string { return "" }

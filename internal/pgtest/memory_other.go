//go:build !linux

package pgtest

// inMemory returns a folder in memory, of which there is none.
func inMemory() string { return "" }

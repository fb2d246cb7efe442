//go:build !amd64

package main

// iopl is a number that no architecture uses.
const iopl = 1 << 20

//go:build unix

package datadir

import (
	"io/fs"
	"syscall"
)

// SameOwner reports whether two files belong to the same user.
func SameOwner(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, okay := b.Sys().(*syscall.Stat_t)
	return !ok || !okay || x.Uid == y.Uid
}

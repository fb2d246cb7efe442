//go:build !unix

package datadir

import "io/fs"

// SameOwner reports whether two files belong to the same user, which is not known here.
func SameOwner(_, _ fs.FileInfo) bool { return true }

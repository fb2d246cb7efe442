//go:build !unix

package vault

import "io/fs"

// private relies on the access lists of the home, which modes do not show.
func private(fs.FileInfo) bool { return true }

//go:build !linux

package workspace

import "io/fs"

// A stamp changes with each change of a file. There is none here: programs can
// set the time of the last change.
type stamp struct{}

func stampOf(fs.FileInfo) (stamp, bool) { return stamp{}, false }

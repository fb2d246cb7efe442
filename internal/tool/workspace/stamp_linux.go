package workspace

import (
	"io/fs"
	"syscall"
)

// A stamp changes with each change of a file: no program sets the time of the
// last change of an inode.
type stamp struct {
	inode   uint64
	size    int64
	changed syscall.Timespec
}

func stampOf(info fs.FileInfo) (stamp, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	return stamp{s.Ino, s.Size, s.Ctim}, true
}

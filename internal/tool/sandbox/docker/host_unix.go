//go:build unix

package docker

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

func ownerOf(at fs.FileInfo) (uid, gid uint32, ok bool) {
	stat, ok := at.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return stat.Uid, stat.Gid, true
}

func signalName(n int) string { return unix.SignalName(syscall.Signal(n)) }

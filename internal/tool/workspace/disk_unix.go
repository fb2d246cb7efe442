//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// syncDir makes renames in a directory durable across a power failure.
func syncDir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// A fileID identifies a file with several names.
type fileID struct{ dev, ino uint64 }

// idOf returns the identity of a file, if it has a second name.
func idOf(info fs.FileInfo) (fileID, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Nlink < 2 {
		return fileID{}, false
	}
	return fileID{uint64(stat.Dev), uint64(stat.Ino)}, true // the types differ between systems
}

// onDisk returns the bytes that a file takes up on disk.
func onDisk(info fs.FileInfo) int64 {
	const block = 512 // unit of stat
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(stat.Blocks) * block
	}
	return info.Size()
}

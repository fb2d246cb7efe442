//go:build unix

package logfile

import (
	"os"

	"chela/internal/filelock"
)

// setAside lets a log become the old one, in the place of the one before. Of
// several processes that find it too large, one does: the others wait for its
// lock, and see then that another log has the name.
func setAside(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = filelock.Release(f) }() // it is not read, so closing it loses nothing
	if err := filelock.Lock(f); err != nil {
		return err
	}
	locked, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(path)
	if err != nil || !os.SameFile(locked, named) {
		return err
	}
	return os.Rename(path, path+".1")
}

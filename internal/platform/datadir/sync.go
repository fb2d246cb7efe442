package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// SyncDir makes changes of the names in a folder durable: files created in it
// or renamed. Windows has no such call and needs none: it journals names
// itself.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Replace writes content to a temporary file of mode 0600 beside path, syncs it, renames
// it to path, and syncs the folder. The errors are the file system's.
func Replace(path string, content []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(dir)
}

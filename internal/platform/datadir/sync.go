package datadir

import (
	"errors"
	"os"
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

// Package disk makes what was written outlive a loss of power.
package disk

import (
	"errors"
	"os"
	"runtime"
)

// SyncDir makes the names in a folder last: those of files that were made in it
// or renamed. Windows has no such call and needs none: it keeps a journal of
// names itself.
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

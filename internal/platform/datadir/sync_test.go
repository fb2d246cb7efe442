package datadir_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"

	"chela/internal/platform/datadir"
)

func TestSyncDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := datadir.SyncDir(dir); err != nil {
		t.Error(err)
	}
	err := datadir.SyncDir(filepath.Join(dir, "missing"))
	if runtime.GOOS != "windows" && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

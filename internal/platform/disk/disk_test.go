package disk_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"

	"chela/internal/platform/disk"
)

func TestSyncDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := disk.SyncDir(dir); err != nil {
		t.Error(err)
	}
	err := disk.SyncDir(filepath.Join(dir, "missing"))
	if runtime.GOOS != "windows" && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

package tomlfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"chela/internal/platform/datadir"
)

// Read reads a file, up to one byte more than [Parse] accepts. The errors are
// the file system's.
func Read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it is only read
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}

// Replace writes text to a temporary file beside name, syncs it, and renames it
// to name. If name is a link, its target is replaced. The errors are the file
// system's.
func Replace(name string, text []byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".config-*.toml") // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return datadir.SyncDir(dir)
}

package tomlfile

import (
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

// Replace replaces the file at name, or creates it with its folder. If name is a link, its target is replaced. The errors are the file
// system's.
func Replace(name string, text []byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return datadir.Replace(name, text)
}

// Package logfile is the log of a home: a file that every process of the home
// appends to, and that can be read while it grows.
package logfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// maxBytes is how large a log file grows before it is set aside.
const maxBytes = 8 << 20

// A File is made by the first thing that is written to it. Processes that
// log at once append, each a line at a time. It stays open until the process
// ends.
type File struct {
	path string

	mu   sync.Mutex
	f    *os.File // guarded by mu
	size int64    // guarded by mu; what the file had and this process wrote
}

// New returns the log at path. It makes nothing yet.
func New(path string) *File { return &File{path: path} }

// Write implements io.Writer.
func (l *File) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil && l.size > maxBytes {
		l.f.Close() // it was written to line by line
		l.f = nil
	}
	if l.f == nil {
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(line)
	l.size += int64(n)
	return n, err
}

// open opens the file. One that has grown large becomes the old one, in the
// place of the one before.
func (l *File) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	if st, err := os.Stat(l.path); err == nil && st.Size() > maxBytes {
		if err := os.Rename(l.path, l.path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	l.size = 0
	if st, err := os.Stat(l.path); err == nil {
		l.size = st.Size()
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	l.f = f
	return err
}

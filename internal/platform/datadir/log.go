package datadir

import (
	"os"
	"path/filepath"
	"sync"
)

// maxBytes is the size at which a log file is rotated.
const maxBytes = 8 << 20

// A Log is the log of a home: a file that every process of the home appends to,
// and that can be read while it grows. The first write creates it. Several processes may append, one line
// at a time. It stays open until the process ends.
type Log struct {
	path string

	mu sync.Mutex
	f  *os.File // guarded by mu
}

// NewLog returns the log at path. It creates no file yet.
func NewLog(path string) *Log { return &Log{path: path} }

// Write implements io.Writer.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.current() {
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	return l.f.Write(line)
}

// current reports whether the open file is still the log, and has room. Another
// process may have rotated it.
func (l *Log) current() bool {
	if l.f == nil {
		return false
	}
	open, err := l.f.Stat()
	if err != nil || open.Size() > maxBytes {
		return false
	}
	named, err := os.Stat(l.path)
	return err == nil && os.SameFile(open, named)
}

// open opens the file, and rotates a large one first.
func (l *Log) open() error {
	if l.f != nil {
		l.f.Close() // it was written to line by line
		l.f = nil
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	if st, err := os.Stat(l.path); err == nil && st.Size() > maxBytes {
		setAside(l.path) //nolint:errcheck // if the rotation fails, the log grows, and the next line tries again
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	l.f = f
	return nil
}

package app

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"chela/internal/config"
)

// maxLogBytes is how large a log file grows before it is set aside.
const maxLogBytes = 8 << 20

// commandLog returns where a command logs: a file of the home. What the person
// must know is printed by the command itself, once.
func commandLog(cfg *config.Config) *slog.Logger {
	return NewLog(cfg, &logFile{path: filepath.Join(cfg.Home.Logs(), "chela.log")})
}

// A logFile is made by the first thing that is written to it. Processes that
// log at once append, each a line at a time. It stays open until the process
// ends.
type logFile struct {
	path string

	mu sync.Mutex
	f  *os.File // guarded by mu
}

// Write implements io.Writer.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	return l.f.Write(line)
}

// open opens the file. One that has grown large becomes the old one, in the
// place of the one before.
func (l *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	if st, err := os.Stat(l.path); err == nil && st.Size() > maxLogBytes {
		if err := os.Rename(l.path, l.path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	l.f = f
	return err
}

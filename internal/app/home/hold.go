package home

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"chela"
	"chela/internal/config"
	"chela/internal/filelock"
)

// A Hold on a home says that this process is its daemon: a file that stays
// locked until the process ends, however it ends, and tells who holds it.
type Hold struct{ file *os.File }

// Take takes the home for a daemon. It is a Conflict if there is one.
func Take(home config.Home) (*Hold, error) {
	path := filepath.Join(string(home), "daemon.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, Trouble(path, err)
	}
	if filelock.TryLock(f) != nil {
		said, _ := io.ReadAll(io.LimitReader(f, 20)) // who holds it is a courtesy
		f.Close()
		who := "another process"
		if pid, err := strconv.Atoi(strings.TrimSpace(string(said))); err == nil {
			who = fmt.Sprintf("process %d", pid)
		}
		return nil, chela.E(chela.Conflict, who+" serves "+string(home)+" already").
			WithHint("stop it first, or choose another home with --home")
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	}
	if err != nil {
		f.Close()
		return nil, Trouble(path, err)
	}
	return &Hold{f}, nil
}

// LetGo gives the home up. The file stays: removing it could let two processes
// hold files of one name.
func (h *Hold) LetGo() error { return filelock.Release(h.file) }

// Listen listens on the Unix socket of a home that this process holds.
// What an earlier daemon left is removed.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Trouble(path, err)
	}
	l, err := listenPrivately(ctx, path)
	if err != nil {
		return nil, chela.E(chela.Unavailable, "cannot listen on "+path).WithHint("use a --home with a shorter path, of less than 90 characters").Because(err)
	}
	return l, nil
}

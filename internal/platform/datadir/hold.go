package datadir

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"chela"
)

// A Hold is the claim of this process to be the daemon of a data folder: a file that
// stays locked until the process ends, however it ends, and identifies the holder.
type Hold struct{ file *os.File }

// How long Take retries a lock that is held. A daemon killed while it started a
// command leaves the lock to the child between fork and exec, on a busy machine
// for some hundred milliseconds.
const (
	lockTime  = time.Second
	lockPause = 10 * time.Millisecond
)

// Take claims a folder for a daemon. It is a Conflict if there is one. A held
// lock is retried with wait, for up to a second in all, before the holder is
// reported.
func Take(ctx context.Context, dir string, wait func(context.Context, time.Duration) error) (*Hold, error) {
	path := filepath.Join(dir, "daemon.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, Trouble(path, err)
	}
	locked := tryLock(f) == nil
	for waited := time.Duration(0); !locked && waited < lockTime; waited += lockPause {
		if err := wait(ctx, lockPause); err != nil {
			f.Close()
			return nil, err
		}
		locked = tryLock(f) == nil
	}
	if !locked {
		said, _ := io.ReadAll(io.LimitReader(f, 20)) // naming the holder is optional
		f.Close()
		who := "another process"
		if pid, err := strconv.Atoi(strings.TrimSpace(string(said))); err == nil {
			who = fmt.Sprintf("process %d", pid)
		}
		return nil, chela.E(chela.Conflict, who+" serves "+dir+" already").
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

// Release ends the claim. The file stays: removing it could let two processes
// hold files of one name.
func (h *Hold) Release() error { return release(h.file) }

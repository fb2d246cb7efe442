package app

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
	"time"

	"chela"
	"chela/internal/config"
	"chela/internal/platform/filelock"
)

// A HomeHold is this process's claim to be the daemon of a home: a file that stays
// locked until the process ends, however it ends, and identifies the holder.
type HomeHold struct{ file *os.File }

// How long Take retries a lock that is held. A daemon killed while it started a
// command leaves the lock to the child between fork and exec, on a busy machine
// for some hundred milliseconds.
const (
	lockTime  = time.Second
	lockPause = 10 * time.Millisecond
)

// TakeHome claims the home for a daemon. It is a Conflict if there is one. A held
// lock is retried with wait, for up to a second in all, before the holder is
// reported.
func TakeHome(ctx context.Context, home config.Home, wait func(context.Context, time.Duration) error) (*HomeHold, error) {
	path := filepath.Join(string(home), "daemon.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, HomeTrouble(path, err)
	}
	locked := filelock.TryLock(f) == nil
	for waited := time.Duration(0); !locked && waited < lockTime; waited += lockPause {
		if err := wait(ctx, lockPause); err != nil {
			f.Close()
			return nil, err
		}
		locked = filelock.TryLock(f) == nil
	}
	if !locked {
		said, _ := io.ReadAll(io.LimitReader(f, 20)) // naming the holder is optional
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
		return nil, HomeTrouble(path, err)
	}
	return &HomeHold{f}, nil
}

// LetGo releases the home. The file stays: removing it could let two processes
// hold files of one name.
func (h *HomeHold) LetGo() error { return filelock.Release(h.file) }

// ListenTCP listens on an address. An address in use is retried as Take retries
// its lock: the child of a killed daemon has the listener open as well.
func ListenTCP(ctx context.Context, address string, wait func(context.Context, time.Duration) error) (net.Listener, error) {
	for waited := time.Duration(0); ; waited += lockPause {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err == nil || !isInUse(err) || waited >= lockTime {
			return l, err
		}
		if stopped := wait(ctx, lockPause); stopped != nil {
			return nil, err
		}
	}
}

// ListenSocket listens on the Unix socket of a home that this process holds. The
// socket of an earlier daemon is removed.
func ListenSocket(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, HomeTrouble(path, err)
	}
	l, err := listenPrivately(ctx, path)
	if err != nil {
		return nil, chela.E(chela.Unavailable, "cannot listen on "+path).WithHint("use a --home with a shorter path, of less than 90 characters").Because(err)
	}
	return l, nil
}

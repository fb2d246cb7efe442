package gateway

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"chela"
	"chela/internal/platform/datadir"
)

// The retries of an address in use: a daemon killed while it started a command
// leaves its listener to the child between fork and exec, on a busy machine for some
// hundred milliseconds.
const (
	listenTime  = time.Second
	listenPause = 10 * time.Millisecond
)

// ListenTCP listens on an address. An address in use is retried with wait, for
// up to a second in all.
func ListenTCP(ctx context.Context, address string, wait func(context.Context, time.Duration) error) (net.Listener, error) {
	for waited := time.Duration(0); ; waited += listenPause {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) || waited >= listenTime {
			return l, err
		}
		if stopped := wait(ctx, listenPause); stopped != nil {
			return nil, err
		}
	}
}

// ListenSocket listens on the Unix socket of a home that this process holds. The
// socket of an earlier daemon is removed.
func ListenSocket(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, datadir.Trouble(path, err)
	}
	l, err := listenPrivately(ctx, path)
	if err != nil {
		return nil, chela.E(chela.Unavailable, "cannot listen on "+path).WithHint("use a --home with a shorter path, of less than 90 characters").Because(err)
	}
	return l, nil
}

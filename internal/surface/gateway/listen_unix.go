//go:build unix

package gateway

import (
	"context"
	"net"
	"os"
	"syscall"
)

// listenPrivately listens on a Unix socket that only the owner can open, from
// its creation on.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	old := syscall.Umask(0o077)
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	syscall.Umask(old)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

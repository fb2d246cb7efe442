package gateway

import (
	"context"
	"net"
)

// listenPrivately listens on a Unix socket. It inherits the rights of its
// folder, which is the owner's.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "unix", path)
}

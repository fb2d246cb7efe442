package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"chela/internal/safety/egress"
)

// NetworkPair returns a pair of connected sockets: one for this process, over
// which a worker passes the listener of its namespace, and the worker's.
func NetworkPair() (here *net.UnixConn, there *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open sockets: %w", err)
	}
	ours := os.NewFile(uintptr(fds[0]), "network")
	defer ours.Close() // the connection has a copy
	there = os.NewFile(uintptr(fds[1]), "network")
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open sockets: %w", err), there.Close())
	}
	return conn.(*net.UnixConn), there, nil
}

// receiveListener returns the listener that arrives on a socket.
func receiveListener(conn *net.UnixConn) (net.Listener, error) {
	one, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(one, rights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("the worker passed no listener"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(errors.New("the worker passed no listener"), err)
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close() // the listener has a copy
	unix.CloseOnExec(fds[0])
	return net.FileListener(f)
}

// ServeNetwork serves a run's proxy on the listener that a worker passes over a
// socket, until stop is called. A worker that failed passes none; stop returns an
// error then.
func ServeNetwork(ctx context.Context, conn *net.UnixConn, r *egress.Run) (stop func() error) {
	l, err := receiveListener(conn)
	if err != nil {
		return func() error { return fmt.Errorf("receive the listener of a sandbox: %w", err) }
	}
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, l) }() // stop waits for it
	return func() error { cancel(); return <-served }
}

package client

// This part of the package connects a client and a server of one process
// without the network.

import (
	"context"
	"net"
	"sync"
)

// A MemoryListener accepts the connections that its Dial opens. It is safe for
// concurrent use.
type MemoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// NewMemoryListener returns an open listener.
func NewMemoryListener() *MemoryListener {
	l := &MemoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Dial opens a connection and returns once it is accepted. It fails with
// net.ErrClosed if the listener is closed first.
func (l *MemoryListener) Dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept returns the next connection. It fails with net.ErrClosed after Close.
func (l *MemoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close makes Accept and Dial fail. Accepted connections stay open. Closing
// twice is safe.
func (l *MemoryListener) Close() error {
	l.close()
	return nil
}

// Addr returns the address of the process itself.
func (l *MemoryListener) Addr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "memory" }
func (addr) String() string  { return "this process" }

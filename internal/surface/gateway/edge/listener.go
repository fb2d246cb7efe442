package edge

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// refusing is how many connections over the limit get an HTTP response at once;
// further ones are closed.
const refusing = 32

// busy is that response.
const busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// A limitedListener accepts connections and marks the ones over a limit, which
// are served with a Refusal, or closed if there are too many even of these.
type limitedListener struct {
	net.Listener
	limit int64
	now   func() time.Time
	open  atomic.Int64
}

// Accept returns the next connection to serve.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		n := l.open.Add(1)
		counted := &countedConn{Conn: c, over: n > l.limit, closed: sync.OnceFunc(func() { l.open.Add(-1) })}
		if n <= l.limit+refusing {
			return counted, nil
		}
		_ = c.SetWriteDeadline(l.now().Add(time.Second)) // there is room for so little in any socket
		_, _ = c.Write([]byte(busy))                     // nothing else can be done for it
		_ = counted.Close()
	}
}

// A countedConn counts until it is closed.
type countedConn struct {
	net.Conn
	over   bool
	closed func()
}

// Close closes the connection and stops counting it.
func (c *countedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// overKey marks the contexts of connections over the limit.
type overKey struct{}

func markOver(ctx context.Context, c net.Conn) context.Context {
	if counted, ok := c.(*countedConn); ok && counted.over {
		return context.WithValue(ctx, overKey{}, true)
	}
	return ctx
}

func overLimit(ctx context.Context) bool { return ctx.Value(overKey{}) != nil }

// silentConns are the connections without a request so far, such as browsers
// open in advance. A server that stops would wait 5 s for them.
type silentConns struct {
	open sync.Map // by net.Conn
}

// note is notified of a connection's state.
func (s *silentConns) note(c net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.open.Store(c, nil)
	} else {
		s.open.Delete(c)
	}
}

// close closes them.
func (s *silentConns) close() {
	for c := range s.open.Range {
		_ = c.(net.Conn).Close() // it may have ended
	}
}

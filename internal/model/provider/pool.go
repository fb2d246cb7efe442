package provider

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	idleConnections = 256 // kept for each server: as many as turns that run at once, with room
	restBytes       = 4 << 10
	restTime        = 20 * time.Millisecond
)

// Pool returns a transport like [http.DefaultTransport] that keeps the connections
// of many requests at once for later ones. The default keeps two for each server, so
// under load most requests had to open one.
func Pool() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, idleConnections
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return bufferedConn{c}, nil
	}
	return pool{t}
}

type pool struct{ *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (p pool) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := p.Transport.RoundTrip(req)
	if err == nil && res.ProtoMajor == 1 {
		res.Body = &wholeBody{ReadCloser: res.Body}
	}
	return res, err
}

// A wholeBody is a body of HTTP/1. Its connection can be used again only if it was
// read to its end, which often follows the last event that its reader wants.
type wholeBody struct {
	io.ReadCloser
	ended bool
}

// Read implements [io.Reader].
func (b *wholeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err != nil
	return n, err
}

// Close reads the end of the body, if it is short and comes at once, and closes the
// body.
func (b *wholeBody) Close() error {
	if !b.ended {
		timer := time.AfterFunc(restTime, func() { _ = b.ReadCloser.Close() }) // ends the read below
		_, _ = io.CopyN(io.Discard, b.ReadCloser, restBytes)                   // without it the connection is closed
		timer.Stop()
	}
	return b.ReadCloser.Close()
}

// A bufferedConn is a connection that copies with a buffer used before. A TCP
// connection allocates one of 32 KiB for each body that it sends.
type bufferedConn struct{ net.Conn }

// copyRoom holds the buffers of bufferedConn.
var copyRoom = sync.Pool{New: func() any { return new([8 << 10]byte) }}

// ReadFrom implements [io.ReaderFrom].
func (c bufferedConn) ReadFrom(r io.Reader) (int64, error) {
	room := copyRoom.Get().(*[8 << 10]byte)
	defer copyRoom.Put(room)
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, struct{ io.Reader }{r}, room[:])
}

package provider

import (
	"io"
	"net/http"
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

package wire

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// maxReused is the capacity of the largest slice that is used again, in bytes. Larger
// ones, of requests with attachments, are left to the garbage collector.
const maxReused = 1 << 20

// scratch holds the slices of earlier bodies.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// Scratch returns an empty slice with a capacity of at least size bytes, which may be
// that of an earlier body. Every step sends the whole conversation and all tools,
// which would be the largest allocation of a turn.
func Scratch(size int) []byte {
	b := *scratch.Get().(*[]byte)
	if cap(b) < size {
		return make([]byte, 0, size)
	}
	return b[:0]
}

// A Body is the body of a request. Its bytes are used again by Scratch after the
// owner has called Release and the transport has closed all readers.
type Body struct {
	bytes []byte
	users atomic.Int32 // the owner, and each open reader
}

// NewBody returns a body of b, which it owns from now on.
func NewBody(b []byte) *Body {
	body := &Body{bytes: b}
	body.users.Store(1)
	return body
}

// Bytes returns the content, which is valid until Release.
func (b *Body) Bytes() []byte { return b.bytes }

// Release ends the owner's use of the body. It must be called once, after the
// response or the error has arrived.
func (b *Body) Release() {
	if b.users.Add(-1) > 0 || cap(b.bytes) > maxReused {
		return
	}
	free := b.bytes[:0]
	b.bytes = nil
	scratch.Put(&free)
}

// Attach makes b the body of a request.
func (b *Body) Attach(r *http.Request) {
	r.Body, r.GetBody, r.ContentLength = b.open(), func() (io.ReadCloser, error) { return b.open(), nil }, int64(len(b.bytes))
}

// open returns a reader of the body. The owner must not have released it.
func (b *Body) open() io.ReadCloser {
	b.users.Add(1)
	r := &bodyReader{body: b}
	r.rest.Reset(b.bytes)
	return r
}

// A bodyReader reads a body. A transport may close it while it reads, and more than
// once.
type bodyReader struct {
	mu     sync.Mutex // held while a read copies bytes
	closed bool       // guarded by mu
	body   *Body
	rest   bytes.Reader
}

var errBodyClosed = errors.New("the request body is closed")

// Read implements [io.Reader].
func (r *bodyReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, errBodyClosed
	}
	return r.rest.Read(p)
}

// Close implements [io.Closer].
func (r *bodyReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.body.Release()
	}
	return nil
}

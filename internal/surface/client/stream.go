package client

import (
	"context"
	"io"
	"net/http"
	"time"

	"chela/internal/api"
)

// A stream is an open response of server-sent events. One goroutine reads it,
// and close waits for it.
type stream struct {
	messages chan message // closed when the stream broke or ended
	cancel   context.CancelFunc
}

// open requests a stream and returns when the daemon begins it, which r.limit bounds.
// Messages after the one with the given id are sent again, unless it is empty. A stream
// that is silent for idle is broken; 0 means no limit. It outlives ctx.
func (c *Client) open(ctx context.Context, r request, after string, idle time.Duration) (*stream, error) {
	r.header = http.Header{"Accept": {api.Stream}}
	if after != "" {
		r.header.Set("Last-Event-ID", after)
	}
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx)) // close cancels it
	gone := context.AfterFunc(ctx, cancel)
	late := time.AfterFunc(r.limit, cancel)
	res, err := send(reading, c.plain, r) //nolint:bodyclose // read closes it
	gone()
	late.Stop()
	if err != nil {
		cancel()
		return nil, err
	}
	s := &stream{messages: make(chan message), cancel: cancel}
	go s.read(reading, res, idle) // close waits for it
	return s, nil
}

// read delivers messages until there are no more or ctx ends.
func (s *stream) read(ctx context.Context, res *http.Response, idle time.Duration) {
	defer close(s.messages)
	defer res.Body.Close() // it is only read
	var body io.Reader = res.Body
	if idle > 0 {
		silent := time.AfterFunc(idle, s.cancel)
		defer silent.Stop()
		body = alive{body, func() { silent.Reset(idle) }}
	}
	d := newDecoder(body)
	for {
		m, err := d.next()
		if err != nil {
			return // the next stream sends the missing messages
		}
		select {
		case s.messages <- m:
		case <-ctx.Done():
			return
		}
	}
}

// alive is a reader that notes each sign of life.
type alive struct {
	io.Reader
	note func()
}

func (a alive) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	a.note()
	return n, err
}

// close ends the stream and returns when its reader has ended.
func (s *stream) close() {
	s.cancel()
	for range s.messages { // buffered messages are dropped
	}
}

// A feed is a stream that is reopened after its last cursor. It is not safe for
// concurrent use.
type feed struct {
	c      *Client
	idle   time.Duration // silence after which a stream is broken; 0 for no limit
	stream *stream       // nil while there is none
	cursor string        // position of the streams
	wait   time.Duration // backoff before the stream is reopened; 0 if it delivered messages
}

// open opens the stream, unless it is open.
func (f *feed) open(ctx context.Context, r request) (err error) {
	if f.stream == nil {
		f.stream, err = f.c.open(ctx, r, f.cursor, f.idle)
	}
	return err
}

func (f *feed) close() {
	if f.stream != nil {
		f.stream.close()
		f.stream = nil
	}
}

// next returns the next message with content. It reports false when ctx ended, or the
// stream did, which is closed then.
func (f *feed) next(ctx context.Context) (message, bool) {
	for {
		select {
		case <-ctx.Done():
			return message{}, false
		case m, more := <-f.stream.messages:
			if !more {
				f.close()
				f.wait = longer(f.wait)
				return m, false
			}
			if m.id != "" {
				f.cursor = m.id
			}
			if m.text != "" { // else it only carries the position of the stream
				f.wait = 0
				return m, true
			}
		}
	}
}

package client

import (
	"context"
	"net/http"
)

// A stream is an open response of server-sent events. One goroutine reads it,
// and close waits for it.
type stream struct {
	messages chan message // closed when the stream broke or ended
	cancel   context.CancelFunc
}

// open requests a stream and returns when the daemon begins it. Messages after
// the one with the given id are sent again, unless it is empty.
func (c *Client) open(ctx context.Context, r request, after string) (*stream, error) {
	r.header = http.Header{"Accept": {"text/event-stream"}}
	if after != "" {
		r.header.Set("Last-Event-ID", after)
	}
	reading, cancel := context.WithCancel(ctx)
	res, err := send(reading, c.streams, r) //nolint:bodyclose // read closes it
	if err != nil {
		cancel()
		return nil, err
	}
	s := &stream{messages: make(chan message), cancel: cancel}
	go s.read(reading, res) // close waits for it
	return s, nil
}

// read delivers messages until there are no more or ctx ends.
func (s *stream) read(ctx context.Context, res *http.Response) {
	defer close(s.messages)
	defer res.Body.Close() // it is only read
	d := newDecoder(res.Body)
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

// close ends the stream and returns when its reader has ended.
func (s *stream) close() {
	s.cancel()
	for range s.messages { // buffered messages are dropped
	}
}

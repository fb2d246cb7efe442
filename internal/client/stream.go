package client

import (
	"context"
	"net/http"
)

// A stream is an answer of server-sent events that goes on. One goroutine reads
// it, which close waits for.
type stream struct {
	messages chan message // closed when the stream broke or ended
	cancel   context.CancelFunc
}

// open asks for a stream and returns when the daemon begins it. What comes after
// the message with the given id is told again, if that is not empty.
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

// read hands out messages until there are no more or ctx ends.
func (s *stream) read(ctx context.Context, res *http.Response) {
	defer close(s.messages)
	defer res.Body.Close() // it is only read
	d := newDecoder(res.Body)
	for {
		m, err := d.next()
		if err != nil {
			return // what is missing is told by the next stream
		}
		select {
		case s.messages <- m:
		case <-ctx.Done():
			return
		}
	}
}

// close ends the stream and returns when nothing reads it any more.
func (s *stream) close() {
	s.cancel()
	for range s.messages { // what was read is dropped
	}
}

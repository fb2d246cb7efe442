package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"chela"
)

// A Client is the worker's end of the connection. It is safe for concurrent use.
type Client struct {
	token string
	out   frameWriter
	in    io.Reader

	mu      sync.Mutex
	last    uint64                // id of the last request; guarded by mu, like all below
	waiting map[uint64]chan reply // each has room for its reply
	ended   error                 // why the connection ended; nil before
}

// Dial waits for the greeting on a new connection and returns its client, whose
// Run the caller must call.
func Dial(conn io.ReadWriter) (*Client, error) {
	var hello Greeting
	if err := readFrame(conn, &hello); err != nil {
		return nil, fmt.Errorf("read the greeting: %w", err)
	}
	return &Client{token: hello.Token, in: conn, out: frameWriter{to: conn}, waiting: map[uint64]chan reply{}}, nil
}

// errEnded is the reason of a connection that chela closed.
var errEnded = errors.New("the connection to chela ended")

// Run reads replies until the connection ends, and returns why it ended.
func (c *Client) Run() error {
	for {
		var r reply
		if err := readFrame(c.in, &r); err != nil {
			return c.end(fmt.Errorf("%w: %w", errEnded, err))
		}
		c.mu.Lock()
		to := c.waiting[r.ID]
		delete(c.waiting, r.ID)
		c.mu.Unlock()
		if to != nil {
			to <- r
		}
	}
}

// end fails all calls that wait, and all later ones.
func (c *Client) end(why error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = why
	for id, to := range c.waiting {
		delete(c.waiting, id)
		close(to)
	}
	return why
}

// Call calls a method and decodes its answer into out, unless that is nil. Errors
// of chela have its kind.
func (c *Client) Call(ctx context.Context, method string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	to := make(chan reply, 1)
	c.mu.Lock()
	if c.ended != nil {
		defer c.mu.Unlock()
		return c.ended
	}
	c.last++
	id := c.last
	c.waiting[id] = to
	c.mu.Unlock()
	if err := c.out.write(request{ID: id, Token: c.token, Method: method, Body: body}); err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	select {
	case r, ok := <-to:
		switch {
		case !ok:
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.ended
		case r.Msg != "":
			return chela.E(r.Kind, r.Msg)
		case out == nil:
			return nil
		}
		return json.Unmarshal(r.Body, out)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
		return context.Cause(ctx)
	}
}

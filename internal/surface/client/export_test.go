package client

import (
	"context"
	"io"
	"net"

	"chela"
)

// DialBy is Dial over connections that a test makes.
func DialBy(ctx context.Context, ids *chela.IDs, connect func(context.Context) (net.Conn, error)) (*Client, error) {
	return dial(ctx, ids, connect)
}

// A Message is one of a stream of server-sent events.
type Message struct{ ID, Name, Text string }

// MaxMessage bounds a message of a stream.
const MaxMessage = maxMessage

// Decode returns the messages of a stream, and what ended it.
func Decode(r io.Reader) ([]Message, error) {
	d := newDecoder(r)
	var all []Message
	for {
		m, err := d.next()
		if err != nil {
			return all, err
		}
		all = append(all, Message{m.id, m.name, m.text})
	}
}

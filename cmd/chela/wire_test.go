package main_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A wire stands between chela and PostgreSQL and is cut at one commit.
type wire struct {
	url     string // of the database, over the wire
	server  string // path of the server's socket
	nth     int    // at which commit
	arrives bool   // the server gets the commit and carries it out

	mu      sync.Mutex
	commits int // guarded by mu
}

// newWire returns a wire to the database at a URL, which is cut at the nth
// commit of all its connections.
func newWire(t *testing.T, database string, nth int, arrives bool) *wire {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	const socket = ".s.PGSQL.5432"
	query := u.Query()
	w := &wire{server: filepath.Join(query.Get("host"), socket), nth: nth, arrives: arrives}
	dir, err := os.MkdirTemp("", "wire") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	query.Set("host", dir)
	u.RawQuery = query.Encode()
	w.url = u.String()
	l, err := net.Listen("unix", filepath.Join(dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	var ends sync.WaitGroup
	ends.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			ends.Go(func() {
				if err := w.connect(client); err != nil {
					t.Error(err)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		ends.Wait()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return w
}

// cut reports whether the wire was cut.
func (w *wire) cut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.commits >= w.nth
}

// connect carries one connection until either side ends it.
func (w *wire) connect(client net.Conn) error {
	defer client.Close()
	server, err := net.Dial("unix", w.server)
	if err != nil {
		return err
	}
	defer server.Close()
	lost := make(chan struct{}) // closed when chela shall hear nothing more
	var back sync.WaitGroup
	back.Go(func() {
		defer client.Close()
		copyUntil(client, server, lost)
	})
	w.forward(server, client, lost)
	// The server ends the connection after whatever it was told before.
	_ = server.(*net.UnixConn).CloseWrite() // it may have ended it already
	back.Wait()
	return nil
}

// forward passes on what chela says, message by message, until the commit at
// which the wire is cut.
func (w *wire) forward(server io.Writer, client io.Reader, lost chan<- struct{}) {
	var commits watch
	for typed := false; ; typed = true { // the first message has no type
		message, err := readMessage(client, typed)
		if err != nil {
			return // chela ended the connection
		}
		last := typed && commits.sees(message) && w.isLast()
		if last {
			close(lost)
		}
		if !last || w.arrives {
			if _, err := server.Write(message); err != nil {
				return
			}
		}
		if last {
			return
		}
	}
}

// isLast counts commits.
func (w *wire) isLast() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits++
	return w.commits == w.nth
}

// A watch finds the commits in what chela says over one connection: it gives
// the statement a name, binds it and then has it carried out.
type watch struct {
	name  []byte // of the statement, with its final zero
	bound bool
}

// sees reports whether a message has a commit carried out.
func (c *watch) sees(message []byte) bool {
	body := message[5:]
	switch message[0] {
	case 'P': // parse: name and text
		if name, found := bytes.CutSuffix(body, []byte("\x00commit\x00\x00\x00")); found {
			c.name = append(bytes.Clone(name), 0)
		}
	case 'B': // bind: portal and name
		_, named, _ := bytes.Cut(body, []byte{0})
		c.bound = c.name != nil && bytes.HasPrefix(named, c.name)
	case 'E': // execute
		return c.bound
	}
	return false
}

// readMessage reads one message of the protocol: a type, the length of what
// follows with itself, and that.
func readMessage(r io.Reader, typed bool) ([]byte, error) {
	head := make([]byte, 4, 5)
	if typed {
		head = head[:5]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[len(head)-4:])
	if length < 4 || length > 1<<24 {
		return nil, errors.New("a message of a strange length")
	}
	message := append(head, make([]byte, length-4)...)
	_, err := io.ReadFull(r, message[len(head):])
	return message, err
}

// copyUntil passes on what the server says, until chela shall hear nothing
// more; the rest is read and dropped, so that the server comes to its end.
func copyUntil(client io.Writer, server io.Reader, lost <-chan struct{}) {
	buf := make([]byte, 1<<16)
	for {
		n, err := server.Read(buf)
		select {
		case <-lost:
		default:
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

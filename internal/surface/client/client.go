package client

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"

	"chela"
)

const (
	helloTime  = 2 * time.Second  // timeout of a daemon's first sign of life
	answerTime = 30 * time.Second // timeout of an answer that needs no work by others
)

// wsaRefused is Windows' error for a refused connection.
const wsaRefused = syscall.Errno(10061)

// A Client is a client of one home's daemon. It is safe for concurrent use. Its
// methods fulfil the contracts of an open home as the commands know it; if the
// daemon does not answer, errors are Unavailable.
type Client struct {
	ids   *chela.IDs
	plain *http.Client
	local bool // the server is in this process
}

// Dial connects to the daemon that listens on the Unix socket at path. It is
// NotFound if there is no listener, Denied if the socket belongs to another
// user, and Unavailable if the listener does not answer within 2 s, such as a
// stopped daemon. The caller closes the client.
func Dial(ctx context.Context, path string, ids *chela.IDs) (*Client, error) {
	return dial(ctx, ids, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	})
}

// dial is Dial over any connection.
func dial(ctx context.Context, ids *chela.IDs, connect func(context.Context) (net.Conn, error)) (*Client, error) {
	c := newClient(connect, ids, false)
	err := c.do(ctx, request{path: []string{"healthz"}, limit: helloTime}, nil)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case nobodyListens(err):
		err = chela.E(chela.NotFound, "no daemon runs on this home").WithHint("run chela serve").Because(err)
	case errors.Is(err, fs.ErrPermission):
		err = chela.E(chela.Denied, "the daemon of this home belongs to another user").
			WithHint("run the command as the owner of the home").Because(err)
	case errors.Is(err, errNoAnswer):
		err = chela.E(chela.Unavailable, "the daemon of this home does not answer").
			WithHint("let it go on if it was stopped, or end it").Because(err)
	default: // the daemon exists, and a command learns its error from its own answer
		return c, nil
	}
	c.Close()
	return nil, err
}

// Local returns a client of an in-process server; connect opens connections to
// it. The caller closes the client.
func Local(connect func(context.Context) (net.Conn, error), ids *chela.IDs) *Client {
	return newClient(connect, ids, true)
}

func newClient(connect func(context.Context) (net.Conn, error), ids *chela.IDs, local bool) *Client {
	return &Client{ids: ids, local: local, plain: &http.Client{
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return connect(ctx) },
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// nobodyListens reports whether an error means that there is no socket, or that
// no process has it open. A path that is too long for one is EINVAL.
func nobodyListens(err error) bool {
	for _, is := range []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ENOTSOCK, syscall.EINVAL, syscall.ECONNREFUSED, wsaRefused} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// Close closes idle connections.
func (c *Client) Close() error {
	c.plain.CloseIdleConnections()
	return nil
}

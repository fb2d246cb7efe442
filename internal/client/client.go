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
	helloTime  = 2 * time.Second  // for a daemon to say that it is there
	answerTime = 30 * time.Second // for an answer that nobody but the daemon works on
)

// wsaRefused is what Windows says when nobody listens.
const wsaRefused = syscall.Errno(10061)

// A Client speaks with the daemon of one home. It may be used by several
// goroutines at once. What it promises of each method is what the commands are
// promised of an open home; when the daemon does not answer, errors are
// Unavailable.
type Client struct {
	ids     *chela.IDs
	plain   *http.Client
	streams *http.Client // whose answers have no end, but must begin
}

// Dial finds the daemon that listens on the Unix socket at path. It is NotFound
// when nobody listens, Denied when the socket belongs to somebody else, and
// Unavailable when whoever listens does not answer within 2 s, such as a daemon
// that was stopped. The caller closes the client.
func Dial(ctx context.Context, path string, ids *chela.IDs) (*Client, error) {
	return dial(ctx, ids, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	})
}

// dial is Dial over any connection.
func dial(ctx context.Context, ids *chela.IDs, connect func(context.Context) (net.Conn, error)) (*Client, error) {
	c := &Client{ids: ids, plain: over(connect, 0), streams: over(connect, tryTime)}
	err := c.do(ctx, request{path: []string{"healthz"}, limit: helloTime}, nil)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case nobodyListens(err):
		err = chela.E(chela.NotFound, "no daemon runs on this home").WithHint("run chela serve").Because(err)
	case errors.Is(err, fs.ErrPermission):
		err = chela.E(chela.Denied, "the daemon of this home belongs to somebody else").
			WithHint("run the command as the owner of the home").Because(err)
	case errors.Is(err, errNoAnswer):
		err = chela.E(chela.Unavailable, "the daemon of this home does not answer").
			WithHint("let it go on if it was stopped, or end it").Because(err)
	default: // it is there, and a command learns from its own answer what is wrong
		return c, nil
	}
	c.Close()
	return nil, err
}

// nobodyListens tells whether an error says that there is no socket, or that no
// process has it open. A path that is too long for one is EINVAL.
func nobodyListens(err error) bool {
	for _, is := range []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ENOTSOCK, syscall.EINVAL, syscall.ECONNREFUSED, wsaRefused} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// over returns a client whose connections are made by connect, and whose
// answers begin in time; 0 is whatever time it takes.
func over(connect func(context.Context) (net.Conn, error), begin time.Duration) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:           func(ctx context.Context, _, _ string) (net.Conn, error) { return connect(ctx) },
			ResponseHeaderTimeout: begin,
			DisableCompression:    true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close ends the connections that are not in use.
func (c *Client) Close() error {
	c.plain.CloseIdleConnections()
	c.streams.CloseIdleConnections()
	return nil
}

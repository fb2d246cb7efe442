package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"chela"
	"chela/internal/api"
)

// Attach stores a file for a message. A file that is too large is Invalid; an
// unreadable one is Unavailable.
func (c *Client) Attach(ctx context.Context, name string, content io.Reader) (a chela.Attachment, err error) {
	raw, err := io.ReadAll(io.LimitReader(content, api.MaxAttachment+1))
	switch {
	case err != nil:
		return a, chela.E(chela.Unavailable, "the attachment cannot be read").Because(err)
	case len(raw) > api.MaxAttachment:
		return a, chela.E(chela.Invalid, fmt.Sprintf("the attachment %s is larger than %d MiB", name, api.MaxAttachment>>20)).
			WithHint("send a smaller one, or put it into the workspace")
	}
	return a, c.do(ctx, request{
		method: http.MethodPost, path: []string{"api", "attachments"}, query: url.Values{"name": {name}}, body: raw, limit: answerTime,
	}, &a)
}

// Logs passes the existing lines of the log to show, oldest first, and then, to
// follow it, each new one until ctx ends, which is no error. It is Unavailable
// if the daemon ends first.
func (c *Client) Logs(ctx context.Context, follow bool, show func(line string)) error {
	query := url.Values{}
	if follow {
		query.Set("follow", "true")
	}
	err := c.logs(ctx, query, show)
	switch {
	case ctx.Err() != nil && follow:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF) && follow:
		return noAnswer(err)
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// logs shows lines until there are no more, which is io.EOF.
func (c *Client) logs(ctx context.Context, query url.Values, show func(line string)) error {
	res, err := send(ctx, c.plain, request{path: []string{"api", "logs"}, query: query})
	if err != nil {
		return err
	}
	defer res.Body.Close() // it is only read
	d := newDecoder(res.Body)
	for {
		m, err := d.next()
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		if err != nil {
			return noAnswer(err)
		}
		var line string
		if err := read(m, &line); err != nil {
			return err
		}
		show(line)
	}
}

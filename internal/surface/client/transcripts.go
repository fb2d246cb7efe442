package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/transcript"
)

// Export writes a thread as a transcript.
func (c *Client) Export(ctx context.Context, id chela.ThreadID, how api.Export, to io.Writer) error {
	query := url.Values{"all": {strconv.FormatBool(how.All)}, "attachments": {strconv.FormatBool(how.Attachments)}, "view": {"full"}}
	if how.Compacted {
		query.Set("view", "compacted")
	}
	res, err := send(ctx, c.plain, request{path: []string{"api", "threads", string(id), "export"}, query: query})
	if err != nil {
		return err
	}
	defer res.Body.Close() // it is only read
	if _, err = io.Copy(to, res.Body); err != nil && ctx.Err() == nil {
		return chela.E(chela.Unavailable, "the transcript did not come to its end").WithHint("export it again").Because(err)
	}
	return err
}

// Import makes a transcript the current thread of a session.
func (c *Client) Import(ctx context.Context, key chela.SessionKey, from io.Reader) (done api.ImportResult, err error) {
	if _, err := chela.ParseSessionKey(key); err != nil {
		return done, err
	}
	raw, err := io.ReadAll(io.LimitReader(from, transcript.MaxBytes+1))
	if err != nil {
		return done, err
	}
	if len(raw) > transcript.MaxBytes {
		return done, transcript.TooLarge()
	}
	path := []string{"api", "sessions", string(key), "import"}
	err = c.do(ctx, request{method: http.MethodPost, path: path, body: lines(raw)}, &done)
	return done, err
}

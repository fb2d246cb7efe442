package client

import (
	"context"
	"net/http"
	"net/url"

	"chela"
	"chela/internal/api"
)

// Notices returns the unread notices, oldest first.
func (c *Client) Notices(ctx context.Context) ([]chela.Outbound, error) {
	return list[chela.Outbound](ctx, c, url.Values{}, "api", "notices")
}

// SeenNotices marks notices as read.
func (c *Client) SeenNotices(ctx context.Context, ids []chela.OutboxID) error {
	return c.do(ctx, request{method: http.MethodPost, path: []string{"api", "notices", "seen"}, body: api.Seen{IDs: ids}, limit: answerTime}, nil)
}

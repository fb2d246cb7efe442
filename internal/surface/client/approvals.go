package client

import (
	"context"
	"net/http"
	"net/url"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/approval"
)

// Approvals returns the approvals in a state, oldest first; with an empty state
// all.
func (c *Client) Approvals(ctx context.Context, state chela.ApprovalState) ([]chela.Approval, error) {
	query := url.Values{}
	if state != "" {
		query.Set("state", string(state))
	}
	return list[chela.Approval](ctx, c, query, "api", "approvals")
}

// Approval returns one approval.
func (c *Client) Approval(ctx context.Context, id chela.ApprovalID) (chela.Approval, error) {
	return get[chela.Approval](ctx, c, "api", "approvals", string(id))
}

// Answer answers an approval. It is a Conflict if it was already answered, and
// Invalid if a pattern does not cover the call. The turn continues
// asynchronously.
func (c *Client) Answer(ctx context.Context, r approval.Reply) (chela.Approval, error) {
	said := api.Answer{Answer: r.Answer, Pattern: r.Pattern, Reason: r.Comment, By: r.By}
	path := []string{"api", "approvals", string(r.ID)}
	ahead := c.watchAhead(ctx)
	a, err := answered[chela.Approval](ctx, c, request{method: http.MethodPost, path: path, body: said, limit: answerTime})
	switch {
	case ahead == nil:
	case err != nil:
		ahead.close()
	default:
		c.keep(a.Turn, ahead)
	}
	return a, err
}

// Grants returns all standing answers, oldest first.
func (c *Client) Grants(ctx context.Context) ([]chela.Grant, error) {
	return list[chela.Grant](ctx, c, url.Values{}, "api", "grants")
}

// Revoke removes a standing answer, or is NotFound.
func (c *Client) Revoke(ctx context.Context, id chela.GrantID) error {
	return c.do(ctx, request{method: http.MethodDelete, path: []string{"api", "grants", string(id)}, limit: answerTime}, nil)
}

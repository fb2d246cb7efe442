package client

import (
	"context"

	"chela"
	"chela/internal/api"
)

// answer executes the operation that answers an approval. The events of its turn
// are received from before the answer on, for the Follow after it.
func (c *Client) answer(ctx context.Context, op api.Request, a *chela.Approval) error {
	ahead := c.watchAhead(ctx)
	err := c.execute(ctx, op, a)
	switch {
	case ahead == nil:
	case err != nil:
		ahead.close()
	default:
		c.keep(a.Turn, ahead)
	}
	return err
}

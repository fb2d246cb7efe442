package self

import (
	"context"
	"errors"

	"chela"
	"chela/internal/api"
)

// A ConnectFunc returns a connection to the operations of the home for a call. It acts
// for the principal of the call's turn; the call is its idempotency key.
type ConnectFunc func(ctx context.Context, call chela.ToolCall) (api.Local, error)

// A connection carries out operations for a call.
type connection struct {
	connect ConnectFunc
	call    chela.ToolCall
	listed  string // the hint of a NotFound error: which tool lists what there is
}

// Do carries out a request. What the session of the call may not see is NotFound.
func (c connection) Do(ctx context.Context, r api.Request, out any) error {
	home, err := c.connect(ctx, c.call)
	if err == nil {
		err = home.Do(ctx, r, out)
	}
	if e, ok := errors.AsType[*chela.Error](err); ok && e.Kind == chela.NotFound {
		err = chela.E(chela.NotFound, e.Msg).WithHint(c.listed).Because(err)
	}
	return err
}

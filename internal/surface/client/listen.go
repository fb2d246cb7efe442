package client

import (
	"context"

	"chela/internal/platform/pause"

	"chela"
)

// asides are the kinds of events that [Client.Listen] handles.
const asides = string(chela.EventTurnFinished + "," + chela.EventNotice + "," + chela.EventElevated)

// Listen passes the ends of turns and the notices of a session to show, and
// changes of elevation in any session, from now on and until ctx ends. It
// reconnects to a daemon that does not answer.
func (c *Client) Listen(ctx context.Context, key chela.SessionKey, show func(chela.Event)) {
	w := &watch{c: c, kinds: asides}
	defer w.close()
	for pause.For(ctx, w.wait) == nil {
		if w.open(ctx) != nil {
			w.wait = longer(w.wait)
			continue
		}
		if e, ok := w.next(ctx); ok && e.Aside(key) {
			show(e)
		}
	}
}

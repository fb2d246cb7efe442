package client

import (
	"context"

	"chela/internal/pause"

	"chela"
)

// Listen hands the endings of turns and the notices of a session to show, from now
// on and until ctx ends. A daemon that does not answer is waited for.
func (c *Client) Listen(ctx context.Context, key chela.SessionKey, show func(chela.Event)) {
	w := &watch{c: c, session: key}
	defer w.close()
	for pause.For(ctx, w.wait) == nil {
		if w.open(ctx) != nil {
			w.wait = longer(w.wait)
			continue
		}
		if e, ok := w.next(ctx); ok && (e.Kind == chela.EventTurnFinished || e.Kind == chela.EventNotice) {
			show(e)
		}
	}
}

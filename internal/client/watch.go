package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/pause"
)

const (
	lookTime = 5 * time.Second // after which a turn is looked at, whatever is heard of it
	restTime = time.Second     // for the events of what a turn is known to have come to
)

// A watch shows the events of one turn of a session. It belongs to one
// goroutine.
type watch struct {
	c       *Client
	session chela.SessionKey
	show    func(chela.Event)

	turn  chela.Turn // what is known of it; its ID is empty before it is
	begun bool       // it went on after the watch began, so that its end is told
	over  bool       // the newest event that was shown tells that it ended or waits

	stream *stream       // nil while there is none
	cursor string        // how far the streams were
	wait   time.Duration // before the stream is opened again; 0 if it told something
}

// close ends the watch: nothing is shown after it.
func (w *watch) close() {
	if w.stream != nil {
		w.stream.close()
		w.stream = nil
	}
}

// open subscribes to the events of the session that come after the cursor. Without
// one they are those from now on: a daemon answers once it listens.
func (w *watch) open(ctx context.Context) (err error) {
	if w.stream == nil {
		w.stream, err = w.c.open(ctx, request{path: []string{"api", "events"}, query: url.Values{"session": {string(w.session)}}}, w.cursor)
	}
	return err
}

// connect is open with patience.
func (w *watch) connect(ctx context.Context) error { return persist(ctx, w.open) }

// next returns the next event of the stream. It reports false when ctx ended or
// the stream did, and when events are missing from it.
func (w *watch) next(ctx context.Context) (e chela.Event, ok bool) {
	for {
		select {
		case <-ctx.Done():
			return e, false
		case m, more := <-w.stream.messages:
			if !more || m.text != "" && json.Unmarshal([]byte(m.text), &e) != nil {
				w.close()
				w.wait = longer(w.wait)
				return e, false
			}
			if m.id != "" {
				w.cursor = m.id
			}
			if m.text != "" { // else it only tells how far the stream is
				w.wait = 0
				return e, e.Kind != chela.EventResync
			}
		}
	}
}

// look reads the turn. After a stream that told nothing the daemon is asked to
// answer when the turn came to something, or it is time to open another one.
func (w *watch) look(ctx context.Context) error {
	wait := w.wait
	return persist(ctx, func(ctx context.Context) error {
		var t api.Turn
		r := request{path: []string{"api", "turns", string(w.turn.ID)}, limit: tryTime + wait}
		if wait > 0 {
			r.query = url.Values{"wait_ms": {strconv.FormatInt(wait.Milliseconds(), 10)}}
		}
		err := w.c.do(ctx, r, &t)
		if err == nil {
			w.turn = t.Turn
		}
		return err
	})
}

// tell shows an event if it is one of the turn.
func (w *watch) tell(e chela.Event) error {
	if e.Turn != w.turn.ID {
		return nil
	}
	if e.Kind == chela.EventNotice && e.Error != "" {
		return chela.E(e.Error, e.Text)
	}
	w.over = e.Kind == chela.EventTurnFinished || e.Kind == chela.EventApprovalRequested
	w.show(e)
	return nil
}

// showUntil shows events until one tells that the turn came to something, or
// until it is time for a look.
func (w *watch) showUntil(ctx context.Context) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	look, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	for !w.over {
		e, ok := w.next(look)
		if !ok {
			return ctx.Err()
		}
		if err := w.tell(e); err != nil {
			return err
		}
	}
	return nil
}

// follow shows the events of the turn until it ended or waits.
func (w *watch) follow(ctx context.Context) (chela.Turn, error) {
	for {
		if err := w.look(ctx); err != nil {
			return w.turn, w.gone(err)
		}
		if w.turn.State != chela.TurnProcessing {
			w.rest(ctx)
			return w.turn, nil
		}
		w.begun, w.over = true, false
		if err := w.showUntil(ctx); err != nil {
			return w.turn, w.gone(err)
		}
	}
}

// rest shows what is on its way of a turn that ended or waits.
func (w *watch) rest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, restTime)
	defer cancel()
	for w.begun && !w.over {
		if pause.For(ctx, w.wait) != nil || w.open(ctx) != nil {
			return
		}
		e, ok := w.next(ctx)
		if ok {
			ok = w.tell(e) == nil
		} else {
			ok = w.stream == nil // it broke, so there may be more
		}
		if !ok {
			return
		}
	}
}

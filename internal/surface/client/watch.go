package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/pause"
)

const (
	farTime   = 5 * time.Second        // poll interval of a turn, even without events
	localTime = 200 * time.Millisecond // the same for an in-process server, which ends with it
	quietTime = 500 * time.Millisecond // grace period for a server to resume a silent turn
	restTime  = time.Second            // timeout of the remaining events of a turn whose outcome is known
)

// lookTime is the poll interval of a turn or a message, even without events.
func (c *Client) lookTime() time.Duration {
	if c.local {
		return localTime
	}
	return farTime
}

// A watch shows the events of one turn of a session. It is not safe for
// concurrent use.
type watch struct {
	c       *Client
	session chela.SessionKey // empty for all
	kinds   string           // of events, separated by commas; empty for all
	show    func(chela.Event)

	turn  chela.Turn // its last known state; its ID is empty before it is known
	begun bool       // it continued after the watch began, so that its end is announced
	over  bool       // the newest event that was shown announces an end or a wait
	quiet bool       // no event of the turn arrived since the last poll

	stream *stream       // nil while there is none
	cursor string        // position of the streams
	wait   time.Duration // backoff before the stream is reopened; 0 if it delivered events
}

// close ends the watch: no event is shown after it.
func (w *watch) close() {
	if w.stream != nil {
		w.stream.close()
		w.stream = nil
	}
}

// open subscribes to the events of the session after the cursor, or from now on
// without one: a daemon answers once it listens.
func (w *watch) open(ctx context.Context) (err error) {
	if w.stream != nil {
		return nil
	}
	query := url.Values{}
	if w.session != "" {
		query.Set("session", string(w.session))
	}
	if w.kinds != "" {
		query.Set("kinds", w.kinds)
	}
	w.stream, err = w.c.open(ctx, request{path: []string{"api", "events"}, query: query}, w.cursor)
	return err
}

// connect is open with retries.
func (w *watch) connect(ctx context.Context) error { return w.c.persist(ctx, w.open) }

// next returns the next event of the stream. It reports false when ctx or the
// stream ended, and when events are missing from it.
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
			if m.text != "" { // else it only carries the position of the stream
				w.wait = 0
				return e, e.Kind != chela.EventResync
			}
		}
	}
}

// watchAhead subscribes before a turn of unknown state continues. It returns
// nil if the server does not allow it.
func (c *Client) watchAhead(ctx context.Context) *watch {
	w := &watch{c: c}
	if w.open(context.WithoutCancel(ctx)) != nil { // ends with close
		return nil
	}
	return w
}

// keep keeps a watch for the follower of a turn. An earlier watch has received
// more events.
func (c *Client) keep(id chela.TurnID, w *watch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.ahead[id]; ok {
		w.close()
		return
	}
	c.ahead[id] = w
}

// kept returns the watch that was kept for a turn, or a new one. The caller closes it.
func (c *Client) kept(id chela.TurnID) (w *watch, ahead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w, ahead = c.ahead[id]; !ahead {
		w = &watch{c: c}
	}
	delete(c.ahead, id)
	return w, ahead
}

// look reads the turn. If the stream delivered no event, the server is asked to
// answer when the turn has an outcome, or the stream is to be reopened: a
// server that follows a turn resumes it if no process runs it.
func (w *watch) look(ctx context.Context) error {
	wait := w.wait
	if w.quiet {
		wait = max(wait, quietTime)
	}
	return w.c.persist(ctx, func(ctx context.Context) error {
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

// tell shows an event of the turn.
func (w *watch) tell(e chela.Event) error {
	if e.Turn != w.turn.ID {
		return nil
	}
	if e.Kind == chela.EventNotice && e.Error != "" {
		return chela.E(e.Error, e.Text)
	}
	w.quiet, w.over = false, e.Kind == chela.EventTurnFinished || e.Kind == chela.EventApprovalRequested
	w.show(e)
	return nil
}

// showUntil shows events until one announces an outcome of the turn, or the
// next poll is due.
func (w *watch) showUntil(ctx context.Context) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	look, cancel := context.WithTimeout(ctx, w.c.lookTime())
	defer cancel()
	w.quiet = true
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

// follow shows the events of the turn until it ends or waits.
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

// rest shows the remaining events of a turn that ended or waits.
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

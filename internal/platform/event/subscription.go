package event

import (
	"context"

	"chela"
)

// A Subscription is one reader of a stream. Its methods except Close belong to
// one goroutine.
type Subscription struct {
	stream *Stream
	filter Filter
	queue  *queue[*chela.Event]

	at     chela.Cursor  // the newest cursor delivered
	page   []chela.Event // read from the log, not delivered yet
	passed bool          // the log before the live events was delivered

	live bool // guarded by stream.mu; receives live events
}

// Cursor returns the position of the reader: all events up to it that pass the
// filter were delivered. It advances with the stream, also while no event
// passes the filter.
func (r *Subscription) Cursor() chela.Cursor {
	if !r.passed {
		return r.at
	}
	r.stream.mu.Lock()
	defer r.stream.mu.Unlock()
	if r.queue.isIdle() && r.stream.at.Compare(r.at) > 0 {
		r.at = r.stream.at
	}
	return r.at
}

// Next returns the next event, and blocks until there is one or ctx ends. It
// reports false when ctx ended, the reader was closed or disconnected because
// it fell behind, or the stream has ended: a reader that reconnects with the
// cursor misses no durable event.
func (r *Subscription) Next(ctx context.Context) (chela.Event, bool) {
	for ctx.Err() == nil {
		if !r.passed {
			e, ok, err := r.replay(ctx)
			if err != nil {
				return chela.Event{}, false
			}
			if ok {
				return e, true
			}
			continue
		}
		e, ok, closed := r.queue.take()
		if ok {
			if e.Cursor == "" {
				return *e, true
			}
			if e.Cursor.Compare(r.at) > 0 {
				r.at = e.Cursor
				return *e, true
			}
			continue // was delivered from the log
		}
		if closed {
			return chela.Event{}, false
		}
		select {
		case <-r.queue.news:
		case <-ctx.Done():
		}
	}
	return chela.Event{}, false
}

// replay returns the next event of the log. At its end it makes the reader live
// and reads once more, for commits in between.
func (r *Subscription) replay(ctx context.Context) (e chela.Event, ok bool, err error) {
	for len(r.page) > 0 {
		e, r.page = r.page[0], r.page[1:]
		r.at = e.Cursor
		if r.filter.wants(&e) {
			return e, true, nil
		}
	}
	was := r.goLive(false)
	page, err := r.stream.cfg.Read(ctx, r.at, r.filter.Session, pageSize)
	switch {
	case chela.KindOf(err) == chela.NotFound:
		r.at = r.goLiveNow()
		r.passed = true
		return chela.Event{Kind: chela.EventResync, Session: r.filter.Session, Cursor: r.at}, true, nil
	case err != nil:
		return e, false, err
	case len(page) > 0:
		r.page = page
	case was:
		r.passed = true
	default:
		r.goLive(true)
	}
	return e, false, nil
}

// goLive subscribes the reader to live events, if it is told to, and reports
// whether it was live before.
func (r *Subscription) goLive(now bool) bool {
	r.stream.mu.Lock()
	defer r.stream.mu.Unlock()
	was := r.live
	r.live = was || now
	return was
}

// goLiveNow subscribes the reader to live events and returns the position of
// the stream.
func (r *Subscription) goLiveNow() chela.Cursor {
	r.stream.mu.Lock()
	defer r.stream.mu.Unlock()
	r.live = true
	return r.stream.at
}

// Close ends the subscription. It is idempotent and safe for concurrent use.
func (r *Subscription) Close() {
	r.stream.mu.Lock()
	defer r.stream.mu.Unlock()
	r.stream.drop(r)
}

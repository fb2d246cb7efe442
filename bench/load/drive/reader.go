package drive

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"chela"
	"chela/bench/load/measure"
)

// backoff is how long a reader that was cut waits before it comes again.
const backoff = 100 * time.Millisecond

// A reader reads the events of a session, and goes on where it was when it is
// cut off.
type reader struct {
	watch  *Watch
	client *http.Client
	hall   *hall

	seen       []seen // durable events in the order in which they came
	hints      int
	resyncs    int
	reconnects int
}

// seen is one durable event.
type seen struct {
	id   string
	at   time.Time // when it came
	took time.Duration
}

// run reads until ctx ends. An error means that the server refused.
func (r *reader) run(ctx context.Context) error {
	for first := true; ; first = false {
		after := ""
		if n := len(r.seen); n > 0 {
			after = r.seen[n-1].id
		}
		res, err := r.watch.events(ctx, r.client, after)
		if ctx.Err() != nil {
			if err == nil {
				res.Body.Close()
			}
			return nil
		}
		if err != nil {
			return err
		}
		if first {
			r.hall.change(func() { r.hall.connected++ })
		}
		err = r.read(res)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		r.reconnects++
		if measure.Pause(ctx, backoff) != nil {
			return nil
		}
	}
}

// read reads one connection until it is cut. An error means that an event
// cannot be understood.
func (r *reader) read(res *http.Response) error {
	defer res.Body.Close()
	for f, err := range frames(res.Body) {
		if err != nil {
			return nil // cut off; the next connection goes on
		}
		if err := r.take(f); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) take(f frame) error {
	now := r.watch.Now()
	if f.event == string(chela.EventResync) {
		r.resyncs++
		return nil
	}
	if f.id == "" {
		r.hints++
		return nil
	}
	var e chela.Event
	if err := json.Unmarshal(f.data, &e); err != nil {
		return fmt.Errorf("read event %s: %w", f.id, err)
	}
	r.seen = append(r.seen, seen{id: f.id, at: now, took: now.Sub(e.At)})
	if e.Kind == chela.EventTurnFinished {
		r.hall.change(func() { r.hall.ended[e.Turn]++ })
	}
	return nil
}

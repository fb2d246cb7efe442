package drive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"chela"
	"chela/bench/load/measure"
)

// A Watch is readers of the events of one session of a chela, and the messages
// that cause them.
type Watch struct {
	Target // its URL with or without the version; no model is named

	Session  string        // should be new to the server
	Readers  int           // at once; 0 means 1
	Rate     float64       // messages a second; 0 means 1
	Duration time.Duration // of messages
	Grace    time.Duration // for readers to connect and, at the end, to see the last event; 0 means 30 s

	Now func() time.Time
}

// A WatchReport is what readers saw. What they should have seen is what the
// server tells a reader that comes after it all.
type WatchReport struct {
	Readers    int               `json:"readers"`
	Messages   int               `json:"messages"`
	Events     int               `json:"events"` // durable ones, as told afterwards
	PerSecond  float64           `json:"events_per_second"`
	Took       measure.Quantiles `json:"took"` // from an event's own time until it came, of durable ones
	Missing    int               `json:"missing"`
	Duplicate  int               `json:"duplicate"`
	Unordered  int               `json:"unordered"` // came before one that it follows
	Strange    int               `json:"strange"`   // not among what is told afterwards
	Hints      int               `json:"hints"`     // events that are told once
	Resyncs    int               `json:"resyncs"`   // told a reader that it missed something
	Reconnects int               `json:"reconnects"`
}

// Run connects the readers, sends the messages, waits until every reader saw
// the end of the last turn, and compares. Unavailable means that the server
// refused something.
func (w Watch) Run(ctx context.Context) (*WatchReport, error) {
	w.Readers, w.Grace, w.Rate = cmp.Or(w.Readers, 1), cmp.Or(w.Grace, 30*time.Second), cmp.Or(w.Rate, 1)
	w.URL = strings.TrimSuffix(strings.TrimSuffix(w.URL, "/"), "/v1")
	client := newClient(w.Readers)
	defer client.CloseIdleConnections()
	h := &hall{ended: map[chela.TurnID]int{}, changed: make(chan struct{}, 1)}
	readers := make([]*reader, w.Readers)
	for i := range readers {
		readers[i] = &reader{watch: &w, client: client, hall: h}
	}
	reading, stop := context.WithCancel(ctx)
	wait := measure.Begin(func() error {
		return measure.Together(len(readers), func(i int) error {
			err := readers[i].run(reading)
			if err != nil {
				stop() // what one is refused nobody gets
			}
			return err
		})
	})
	posts, last, err := w.cause(reading, client, h)
	stop()
	if readErr := wait(); readErr != nil {
		err = readErr
	}
	if err != nil {
		return nil, err
	}
	told, err := w.replay(ctx, client, earliest(readers), last)
	if err != nil {
		return nil, err
	}
	return w.compare(readers, told, posts), nil
}

// cause sends the messages once all readers are connected. It returns how many
// there were and the turn of the last one.
func (w *Watch) cause(ctx context.Context, client *http.Client, h *hall) (posts int, last chela.TurnID, err error) {
	if err := w.until(ctx, h, func() bool { return h.connected >= w.Readers }); err != nil {
		return 0, "", fmt.Errorf("connect %d readers: %w", w.Readers, err)
	}
	for begun := w.Now(); ; posts++ {
		due := time.Duration(float64(posts) / w.Rate * float64(time.Second))
		if posts > 0 && due >= w.Duration {
			break
		}
		if err := measure.Pause(ctx, due-w.Now().Sub(begun)); err != nil {
			return 0, "", err
		}
		if last, err = w.post(ctx, client, posts); err != nil {
			return 0, "", err
		}
	}
	// Readers that do not see the end are told about in the report.
	_ = w.until(ctx, h, func() bool { return h.ended[last] >= w.Readers })
	return posts, last, ctx.Err()
}

// until waits until something holds in the hall, for as long as the grace.
func (w *Watch) until(ctx context.Context, h *hall, holds func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, w.Grace, fmt.Errorf("not within %v", w.Grace))
	defer cancel()
	for !h.look(holds) {
		select {
		case <-h.changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// post sends one message.
func (w *Watch) post(ctx context.Context, client *http.Client, n int) (chela.TurnID, error) {
	body, err := json.Marshal(map[string]string{
		"session": w.Session, "text": fmt.Sprint("hello ", n), "message_id": fmt.Sprint(w.Session, "-", n),
	})
	if err != nil {
		return "", err
	}
	req, err := w.request(ctx, http.MethodPost, w.URL+"/api/messages", body)
	if err != nil {
		return "", err
	}
	res, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("send a message: %w", err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		return "", fmt.Errorf("send a message: %w", err)
	}
	var accepted struct{ Turn chela.TurnID }
	if res.StatusCode != http.StatusAccepted || json.Unmarshal(said, &accepted) != nil {
		return "", chela.E(chela.Unavailable, fmt.Sprintf("a message was answered with %s: %s", res.Status, said))
	}
	return accepted.Turn, nil
}

// events asks for the events that come after one.
func (w *Watch) events(ctx context.Context, client *http.Client, after string) (*http.Response, error) {
	query := url.Values{"session": {w.Session}}
	req, err := w.request(ctx, http.MethodGet, w.URL+"/api/events?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // the status says enough
		return nil, chela.E(chela.Unavailable, fmt.Sprintf("readers of events got %s: %s", res.Status, bytes.TrimSpace(said)))
	}
	return res, nil
}

// replay reads what the server tells from the first event that any reader saw
// until the end of the last turn.
func (w *Watch) replay(ctx context.Context, client *http.Client, first seen, last chela.TurnID) ([]string, error) {
	if first.id == "" {
		return nil, chela.E(chela.Unavailable, "no reader saw any event")
	}
	ctx, cancel := context.WithTimeout(ctx, w.Grace)
	defer cancel()
	res, err := w.events(ctx, client, first.id)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	told := []string{first.id}
	for f, err := range frames(res.Body) {
		if err != nil {
			return nil, fmt.Errorf("read all events again: %w", err)
		}
		if f.id == "" {
			continue
		}
		told = append(told, f.id)
		var e chela.Event
		if err := json.Unmarshal(f.data, &e); err != nil {
			return nil, fmt.Errorf("read event %s again: %w", f.id, err)
		}
		if e.Kind == chela.EventTurnFinished && e.Turn == last {
			return told, nil
		}
	}
	return nil, chela.E(chela.Unavailable, "the server does not tell the end of the last turn again")
}

// A hall is what the readers share.
type hall struct {
	mu        sync.Mutex
	connected int                  // readers that were connected once; under mu
	ended     map[chela.TurnID]int // readers that saw the end of a turn; under mu

	changed chan struct{} // has an item after a change, for the one that waits
}

func (h *hall) look(at func() bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return at()
}

func (h *hall) change(what func()) {
	h.mu.Lock()
	what()
	h.mu.Unlock()
	select {
	case h.changed <- struct{}{}:
	default: // who waits was told, and has not looked yet
	}
}

// earliest returns the event that came first of all.
func earliest(readers []*reader) seen {
	var first seen
	for _, r := range readers {
		if len(r.seen) > 0 && (first.id == "" || r.seen[0].at.Before(first.at)) {
			first = r.seen[0]
		}
	}
	return first
}

func (w *Watch) compare(readers []*reader, told []string, posts int) *WatchReport {
	report := &WatchReport{
		Readers: w.Readers, Messages: posts, Events: len(told),
		PerSecond: float64(len(told)) / max(w.Duration.Seconds(), 1/w.Rate),
	}
	place := map[string]int{}
	for i, id := range told {
		place[id] = i
	}
	var took []time.Duration
	for _, r := range readers {
		for _, s := range r.seen {
			took = append(took, s.took)
		}
		report.count(r, place)
	}
	report.Took = measure.QuantilesOf(took)
	return report
}

// count compares what one reader saw with the places of all there was.
func (r *WatchReport) count(by *reader, place map[string]int) {
	r.Hints, r.Resyncs, r.Reconnects = r.Hints+by.hints, r.Resyncs+by.resyncs, r.Reconnects+by.reconnects
	times := make([]int, len(place))
	furthest := -1
	for _, s := range by.seen {
		at, known := place[s.id]
		switch {
		case !known && furthest == len(place)-1:
			continue // after the end of what is compared
		case !known:
			r.Strange++
			continue
		case times[at] > 0:
			r.Duplicate++
		case at < furthest:
			r.Unordered++
		}
		times[at]++
		furthest = max(furthest, at)
	}
	r.Missing += len(slices.DeleteFunc(times, func(n int) bool { return n > 0 }))
}

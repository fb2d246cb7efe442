package event

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"chela"
)

const (
	lookTime = 250 * time.Millisecond // poll interval for commits of other processes
	waitTime = 10 * time.Millisecond  // between polls for an event that is known to be committed
	pageSize = 256                    // transactions read from the log at once
)

// Config holds the dependencies of a stream. All fields are required.
type Config struct {
	Bus *Bus
	Log *slog.Logger

	// Read returns the durable events of up to limit transactions after a
	// cursor, in order: of one session, or of all if key is empty. It returns
	// NotFound if the log no longer reaches back to the cursor.
	Read func(ctx context.Context, after chela.Cursor, key chela.SessionKey, limit int) ([]chela.Event, error)

	// Last returns the cursor of the newest event that Read would return.
	Last func(ctx context.Context) (chela.Cursor, error)
}

// A Stream sends events to readers outside the process. While there are readers
// it reads the log once for all of them. It is safe for concurrent use.
type Stream struct {
	cfg    Config
	wanted chan struct{} // holds one token after a reader subscribed

	mu      sync.Mutex
	ended   bool          // guarded by mu, like all below; Run has returned
	flowing chan struct{} // closed while Run delivers live events
	at      chela.Cursor  // the newest durable event delivered
	readers audience[*Subscription]
}

// NewStream returns a stream. The caller must call Run.
func NewStream(cfg Config) *Stream {
	return &Stream{cfg: cfg, wanted: make(chan struct{}, 1), flowing: make(chan struct{})}
}

// Run delivers events to readers until ctx ends; then every reader's stream
// ends.
func (s *Stream) Run(ctx context.Context) error {
	defer s.end()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wanted:
		}
		if err := s.flow(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("event stream interrupted", "error", err)
			s.cutAll()
		}
	}
}

// end closes every reader, and accepts no further ones.
func (s *Stream) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.cutAll()
}

// cutAll ends the streams of all readers: they reconnect with their cursors.
func (s *Stream) cutAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.readers.all() {
		s.drop(r)
	}
}

// flow delivers events while there are readers.
func (s *Stream) flow(ctx context.Context) error {
	heard := s.cfg.Bus.Listen("", nil)
	defer heard.Close()
	last, err := s.cfg.Last(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.at = last
	close(s.flowing)
	s.mu.Unlock()
	t := &teller{stream: s, at: last, due: last}
	for err == nil && ctx.Err() == nil && !s.rest(false) {
		if err = t.listen(ctx, heard); err == nil {
			err = t.tell(ctx, "")
		}
	}
	s.rest(true)
	return err
}

// rest stops the delivery if there are no readers or it is forced, and reports
// whether it did. A reader that subscribes afterwards wakes Run.
func (s *Stream) rest(must bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.readers.isEmpty() && !must {
		return false
	}
	select {
	case <-s.flowing:
		s.flowing = make(chan struct{})
	default:
	}
	return true
}

// A teller is the state of flow, which belongs to its goroutine.
type teller struct {
	stream *Stream
	at     chela.Cursor  // the newest event delivered
	due    chela.Cursor  // the newest event that is known to be committed
	ahead  []chela.Event // read from the log, and committed after the last delivered event
}

// listen delivers live events until the next poll of the log. Before a
// committed event is announced, the log is delivered up to it, so that
// transient events of a session precede the commits that followed them.
func (t *teller) listen(ctx context.Context, heard *Listener) error {
	patience := lookTime
	behind := t.due.Compare(t.at) > 0
	if behind {
		patience = waitTime
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for wait.Err() == nil {
		e, ok := heard.Next(wait)
		switch {
		case !ok && heard.queue.isClosed():
			return chela.E(chela.Exhausted, "the stream fell behind the log")
		case !ok:
			return nil
		case e.Cursor == "":
			t.stream.deliver(&e)
			continue
		case e.Cursor.Compare(t.due) > 0:
			t.due = e.Cursor
		}
		if err := t.tell(ctx, e.Cursor); err != nil {
			return err
		}
		if !behind && t.due.Compare(t.at) > 0 {
			return nil
		}
	}
	return nil
}

// tell delivers the committed events up to a cursor, or all with the empty one.
func (t *teller) tell(ctx context.Context, until chela.Cursor) error {
	for {
		for len(t.ahead) > 0 && (until == "" || t.ahead[0].Cursor.Compare(until) <= 0) {
			e := t.ahead[0]
			t.ahead = t.ahead[1:]
			t.at = e.Cursor
			t.stream.deliver(&e)
		}
		if len(t.ahead) > 0 || until != "" && t.at.Compare(until) >= 0 {
			return nil
		}
		page, err := t.stream.cfg.Read(ctx, t.at, "", pageSize)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		t.ahead = page
	}
}

// deliver sends an event to the readers whose filter it passes.
func (s *Stream) deliver(e *chela.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Cursor != "" {
		s.at = e.Cursor
	}
	for r := range s.readers.of(e.Session) {
		if r.live && r.filter.wants(e) && !r.queue.put(e) {
			s.drop(r)
		}
	}
}

// Reads reports whether a reader gets an event now.
func (s *Stream) Reads(e chela.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.readers.of(e.Session) {
		if r.live && r.filter.wants(&e) {
			return true
		}
	}
	return false
}

// drop removes a reader; s.mu is held.
func (s *Stream) drop(r *Subscription) {
	s.readers.remove(r.filter.Session, r)
	r.queue.close()
}

// A Filter selects the events of a reader.
type Filter struct {
	Session chela.SessionKey  // empty: all
	Thread  chela.ThreadID    // empty: all
	Kinds   []chela.EventKind // empty: all
	After   chela.Cursor      // empty: from now on
}

// wants reports whether an event of the right session passes the filter.
func (f *Filter) wants(e *chela.Event) bool {
	return (f.Thread == "" || f.Thread == e.Thread) && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind))
}

// Subscribe adds a reader. The durable events after f.After come first, in
// order, without gap or duplicate, then live events. If the log no longer
// reaches back to f.After, the first event is an [chela.EventResync], and the
// stream continues from now. A malformed cursor is Invalid; Unavailable means
// that the stream has ended. The caller closes the subscription.
func (s *Stream) Subscribe(ctx context.Context, f Filter) (*Subscription, error) {
	if f.After != "" {
		if _, _, _, err := f.After.Parts(); err != nil {
			return nil, err
		}
	}
	r := &Subscription{stream: s, filter: f, queue: newQueue[*chela.Event](), at: f.After}
	s.mu.Lock()
	s.readers.add(f.Session, r)
	ended := s.ended
	s.mu.Unlock()
	if err := s.waitForFlow(ctx, ended); err != nil {
		r.Close()
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.After == "" {
		r.at, r.live, r.passed = s.at, true, true
	}
	return r, nil
}

// waitForFlow wakes Run for a new reader and waits until it delivers events.
func (s *Stream) waitForFlow(ctx context.Context, ended bool) error {
	select {
	case s.wanted <- struct{}{}:
	default:
	}
	s.mu.Lock()
	flowing := s.flowing
	s.mu.Unlock()
	if ended {
		return chela.E(chela.Unavailable, "chela is shutting down").WithHint("connect again in a moment")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	select {
	case <-flowing:
		return nil
	case <-ctx.Done():
		return chela.E(chela.Unavailable, "the event stream did not start").WithHint("try again in a moment")
	}
}

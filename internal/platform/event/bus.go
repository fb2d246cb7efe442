// Package event publishes committed events, and transient ones such as deltas.
//
// A [Bus] carries events inside the process, in the order that each session
// emits them. A [Stream] is for readers outside the process: it sends durable
// events in cursor order, whichever process committed them, and lets a reader
// that reconnects catch up from the log of the store:
//
//	turn ─▶ commit ─▶ Bus ──────────────────────▶ waiters of a turn
//	          │        │ "there is something"
//	          ▼        ▼
//	         log ──▶ Stream, in order ──────────▶ readers that are up to date
//	          └────────────────── page by page ─▶ readers that catch up
//
// Events may be lost: a listener or reader that falls behind is disconnected,
// reads the events it missed from the log or the journal, and subscribes again.
// The journal is the source of truth.
package event

import (
	"context"
	"sync"

	"chela"
)

// A Bus carries events from emitters to listeners. The zero value is ready to
// use. It is safe for concurrent use.
type Bus struct {
	// Redact returns a text as it may leave the process; nil for texts as they are.
	// It is set before the first use.
	Redact func(text string) string

	mu        sync.Mutex
	listeners audience[*Listener] // guarded by mu
}

// A Listener receives the events that pass its filter, from its creation until
// it is closed.
type Listener struct {
	bus    *Bus
	key    chela.SessionKey
	filter func(chela.Event) bool
	queue  *queue[chela.Event]
}

// Emit sends e to every matching listener. It never blocks.
func (b *Bus) Emit(e chela.Event) {
	if b.Redact != nil {
		e.Text = b.Redact(e.Text)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.listeners.of(e.Session) {
		if (l.filter == nil || l.filter(e)) && !l.queue.put(e) {
			b.drop(l)
		}
	}
}

// Listen returns a listener to the events of a session, or of all with the
// empty key, for which filter is true; without a filter, to all of them. Filter
// is called with the bus locked: it must be quick and must not use the bus.
func (b *Bus) Listen(key chela.SessionKey, filter func(chela.Event) bool) *Listener {
	l := &Listener{bus: b, key: key, filter: filter, queue: newQueue[chela.Event]()}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners.add(key, l)
	return l
}

// drop removes a listener; b.mu is held.
func (b *Bus) drop(l *Listener) {
	b.listeners.remove(l.key, l)
	l.queue.close()
}

// Next returns the next event, and blocks until there is one or ctx ends.
// Pending events come first, also when ctx has ended. It reports false when ctx
// ended, or the listener was closed or disconnected because it fell behind. It
// must be called by one goroutine at a time.
func (l *Listener) Next(ctx context.Context) (chela.Event, bool) {
	for {
		if e, ok, closed := l.queue.take(); ok || closed {
			return e, ok
		}
		select {
		case <-l.queue.news:
		case <-ctx.Done():
			e, ok, _ := l.queue.take()
			return e, ok
		}
	}
}

// Close ends the listener; Next still returns pending events.
func (l *Listener) Close() {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	l.bus.drop(l)
}

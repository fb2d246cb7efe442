// Package event hands out notices of what was committed, and hints about what
// is on its way.
//
// A [Bus] carries events inside the process, in the order in which each session
// emits them. A [Stream] is for readers from outside: it tells durable events
// in the order of their cursors, whichever process committed them, and lets a
// reader that was away catch up from the log of the store:
//
//	turn ─▶ commit ─▶ Bus ──────────────────────▶ whoever waits for a turn
//	          │        │ "there is something"
//	          ▼        ▼
//	         log ──▶ Stream, in order ──────────▶ readers that are up to date
//	          └────────────────── page by page ─▶ readers that catch up
//
// Events may be lost: a listener or reader that falls behind is cut off, reads
// the log or the journal for what it missed, and begins anew. The journal is
// the truth.
package event

import (
	"context"
	"sync"

	"chela"
)

// A Bus carries events from those who emit to those who listen. The zero value
// is ready. It may be used by several goroutines at once.
type Bus struct {
	mu        sync.Mutex
	listeners audience[*Listener] // guarded by mu
}

// A Listener receives the events that its filter lets through, from the moment
// it was made until it is closed.
type Listener struct {
	bus    *Bus
	key    chela.SessionKey
	filter func(chela.Event) bool
	queue  *queue[chela.Event]
}

// Emit hands e to every listener that wants it. It never blocks.
func (b *Bus) Emit(e chela.Event) {
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
// is called while others wait: it must be quick and must not use the bus.
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

// Next returns the next event, and waits for it until ctx ends. Events that
// have arrived come first, also when ctx has ended. It reports false when ctx
// ended, or the listener was closed or cut off because it fell behind. It must
// be called by one goroutine at a time.
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

// Close ends the listener; Next still returns what has arrived already.
func (l *Listener) Close() {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	l.bus.drop(l)
}

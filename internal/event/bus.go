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

// queueSize is how many events a listener may be behind: several seconds of a
// fast stream of deltas.
const queueSize = 4096

// A Bus carries events from those who emit to those who listen. The zero value
// is ready. It may be used by several goroutines at once.
type Bus struct {
	mu        sync.Mutex
	listeners map[chela.SessionKey]map[*Listener]struct{} // guarded by mu; those of all sessions have the empty key
}

// A Listener receives the events that its filter lets through, from the moment
// it was made until it is closed.
type Listener struct {
	bus    *Bus
	key    chela.SessionKey
	filter func(chela.Event) bool
	news   chan struct{} // holds one token while there may be something to read

	queue  []chela.Event // guarded by bus.mu, like closed
	closed bool
}

// Emit hands e to every listener that wants it. It never blocks.
func (b *Bus) Emit(e chela.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.emitTo("", e)
	if e.Session != "" {
		b.emitTo(e.Session, e)
	}
}

// emitTo hands e to the listeners with a key; b.mu is held.
func (b *Bus) emitTo(key chela.SessionKey, e chela.Event) {
	for l := range b.listeners[key] {
		if l.filter != nil && !l.filter(e) {
			continue
		}
		if len(l.queue) == queueSize {
			b.drop(l)
			continue
		}
		l.queue = append(l.queue, e)
		l.tell()
	}
}

// Listen returns a listener to the events of a session, or of all with the
// empty key, for which filter is true; without a filter, to all of them. Filter
// is called while others wait: it must be quick and must not use the bus.
func (b *Bus) Listen(key chela.SessionKey, filter func(chela.Event) bool) *Listener {
	l := &Listener{bus: b, key: key, filter: filter, news: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[chela.SessionKey]map[*Listener]struct{}{}
	}
	if b.listeners[key] == nil {
		b.listeners[key] = map[*Listener]struct{}{}
	}
	b.listeners[key][l] = struct{}{}
	return l
}

// drop removes a listener; b.mu is held.
func (b *Bus) drop(l *Listener) {
	delete(b.listeners[l.key], l)
	if len(b.listeners[l.key]) == 0 {
		delete(b.listeners, l.key)
	}
	l.closed = true
	l.tell()
}

// tell wakes whoever waits in Next.
func (l *Listener) tell() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// Next returns the next event, and waits for it until ctx ends. Events that
// have arrived come first, also when ctx has ended. It reports false when ctx
// ended, or the listener was closed or cut off because it fell behind. It must
// be called by one goroutine at a time.
func (l *Listener) Next(ctx context.Context) (chela.Event, bool) {
	for {
		if e, ok, closed := l.take(); ok || closed {
			return e, ok
		}
		select {
		case <-l.news:
		case <-ctx.Done():
			e, ok, _ := l.take()
			return e, ok
		}
	}
}

// take returns the first event that has arrived, whether there is one, and if
// not, whether there will be none.
func (l *Listener) take() (e chela.Event, ok, closed bool) {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	if len(l.queue) == 0 {
		l.queue = nil // what was read may be reclaimed
		return chela.Event{}, false, l.closed
	}
	e = l.queue[0]
	l.queue = l.queue[1:]
	return e, true, false
}

// isClosed reports whether the listener was closed or cut off.
func (l *Listener) isClosed() bool {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	return l.closed
}

// Close ends the listener; Next still returns what has arrived already.
func (l *Listener) Close() {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	l.bus.drop(l)
}

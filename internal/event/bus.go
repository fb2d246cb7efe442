// Package event hands out notices of what was committed, and hints about what
// is on its way, to whoever listens in this process.
//
// Events may be lost: a listener that falls behind is cut off, and reads the
// journal for what it missed. The journal is the truth.
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
	listeners map[*Listener]struct{} // guarded by mu
}

// A Listener receives the events that its filter lets through, from the moment
// it was made until it is closed.
type Listener struct {
	bus    *Bus
	filter func(chela.Event) bool
	queue  chan chela.Event // closed by the bus, with its mutex held
}

// Emit hands e to every listener that wants it. It never blocks.
func (b *Bus) Emit(e chela.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.listeners {
		if !l.filter(e) {
			continue
		}
		select {
		case l.queue <- e:
		default:
			b.drop(l)
		}
	}
}

// Listen returns a listener to the events for which filter is true. Filter is
// called while others wait: it must be quick and must not use the bus.
func (b *Bus) Listen(filter func(chela.Event) bool) *Listener {
	l := &Listener{bus: b, filter: filter, queue: make(chan chela.Event, queueSize)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[*Listener]struct{}{}
	}
	b.listeners[l] = struct{}{}
	return l
}

// drop removes a listener; b.mu is held.
func (b *Bus) drop(l *Listener) {
	if _, ok := b.listeners[l]; ok {
		delete(b.listeners, l)
		close(l.queue)
	}
}

// Next returns the next event, and waits for it until ctx ends. Events that
// have arrived come first, also when ctx has ended. It reports false when ctx
// ended, or the listener was closed or cut off because it fell behind.
func (l *Listener) Next(ctx context.Context) (chela.Event, bool) {
	select {
	case e, ok := <-l.queue:
		return e, ok
	default:
	}
	select {
	case e, ok := <-l.queue:
		return e, ok
	case <-ctx.Done():
		return chela.Event{}, false
	}
}

// Close ends the listener; Next still returns what has arrived already.
func (l *Listener) Close() {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	l.bus.drop(l)
}

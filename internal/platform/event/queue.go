package event

import "sync"

// queueSize is how many events a reader may be behind: several seconds of a
// fast stream of deltas.
const queueSize = 4096

// queueKept is how many events the memory of an empty queue has room for.
const queueKept = 64

// queueFirst is how many events a new queue has room for: about those of a text turn.
const queueFirst = 6

// A queue buffers the events of one reader. It has a single consumer goroutine.
type queue[T any] struct {
	news chan struct{} // holds one token while there may be an event

	mu      sync.Mutex
	arrived []T // guarded by mu, like the others; its memory is used again
	first   int // index of the first pending event
	closed  bool
}

func newQueue[T any]() *queue[T] {
	return &queue[T]{news: make(chan struct{}, 1), arrived: make([]T, 0, queueFirst)}
}

// put adds v, and reports whether there was room for it. It never blocks.
func (q *queue[T]) put(v T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.arrived)-q.first == queueSize {
		return false
	}
	if len(q.arrived) == cap(q.arrived) && q.first > len(q.arrived)/2 {
		n := copy(q.arrived, q.arrived[q.first:])
		clear(q.arrived[n:])
		q.arrived, q.first = q.arrived[:n], 0
	}
	q.arrived = append(q.arrived, v)
	q.tell()
	return true
}

// take returns the first pending event and whether there is one; if not, also
// whether the queue is closed.
func (q *queue[T]) take() (v T, ok, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.first == len(q.arrived) {
		return v, false, q.closed
	}
	var none T
	v, q.arrived[q.first] = q.arrived[q.first], none // allows the event to be garbage-collected
	if q.first++; q.first == len(q.arrived) {
		q.arrived, q.first = q.arrived[:0], 0
		if cap(q.arrived) > queueKept {
			q.arrived = nil
		}
	}
	return v, true, false
}

// close ends the queue; pending events can still be taken.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.tell()
}

// tell wakes the consumer.
func (q *queue[T]) tell() {
	select {
	case q.news <- struct{}{}:
	default:
	}
}

func (q *queue[T]) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// isIdle reports whether the queue is empty and still open.
func (q *queue[T]) isIdle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.first == len(q.arrived) && !q.closed
}

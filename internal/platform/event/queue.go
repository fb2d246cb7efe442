package event

import "sync"

// queueSize is how many events a reader may be behind: several seconds of a
// fast stream of deltas.
const queueSize = 4096

// A queue buffers the events of one reader. It has a single consumer goroutine.
type queue[T any] struct {
	news chan struct{} // holds one token while there may be an event

	mu      sync.Mutex
	arrived []T // guarded by mu, like closed
	closed  bool
}

func newQueue[T any]() *queue[T] { return &queue[T]{news: make(chan struct{}, 1)} }

// put adds v, and reports whether there was room for it. It never blocks.
func (q *queue[T]) put(v T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.arrived) == queueSize {
		return false
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
	if len(q.arrived) == 0 {
		q.arrived = nil // allows the event to be garbage-collected
		return v, false, q.closed
	}
	v = q.arrived[0]
	q.arrived = q.arrived[1:]
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
	return len(q.arrived) == 0 && !q.closed
}

package event

import "sync"

// queueSize is how many events a reader may be behind: several seconds of a
// fast stream of deltas.
const queueSize = 4096

// A queue holds what has arrived for one reader and was not taken yet. One
// goroutine at a time may take from it.
type queue[T any] struct {
	news chan struct{} // holds one token while there may be something to take

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

// take returns the first of what has arrived, whether there is one, and if not,
// whether there will be none.
func (q *queue[T]) take() (v T, ok, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.arrived) == 0 {
		q.arrived = nil // what was read may be reclaimed
		return v, false, q.closed
	}
	v = q.arrived[0]
	q.arrived = q.arrived[1:]
	return v, true, false
}

// close says that nothing comes any more; what has arrived can still be taken.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.tell()
}

// tell wakes whoever waits for news.
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

// isIdle reports whether nothing waits to be taken, but more may come.
func (q *queue[T]) isIdle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.arrived) == 0 && !q.closed
}

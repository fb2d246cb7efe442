package edge

import (
	"context"
	"sync"

	"chela"
)

// waits holds the long requests: streams, sockets, and requests that wait for a
// turn. They are cancelled when the gateway stops, and when their token is
// revoked. It is safe for concurrent use.
type waits struct {
	mu      sync.Mutex
	open    map[*Visit]context.CancelCauseFunc // guarded by mu
	closing bool                               // guarded by mu
	empty   chan struct{}                      // closed once closing is set and open is empty
	emptied sync.Once
}

func newWaits() *waits {
	return &waits{open: map[*Visit]context.CancelCauseFunc{}, empty: make(chan struct{})}
}

// add returns a context for a request, which is cancelled with errClosing or
// errRevoked as its cause. Done must be called when the request was answered.
func (w *waits) add(ctx context.Context, v *Visit) (_ context.Context, done func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		return nil, nil, errClosing
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w.open[v] = cancel
	return ctx, func() {
		cancel(context.Canceled)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, v)
		w.leave()
	}, nil
}

// leave signals that no request is open; w.mu is held.
func (w *waits) leave() {
	if w.closing && len(w.open) == 0 {
		w.emptied.Do(func() { close(w.empty) })
	}
}

// close cancels all requests and accepts no more.
func (w *waits) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = true
	for _, cancel := range w.open {
		cancel(errClosing)
	}
	w.leave()
}

// revoke cancels the requests of callers whose credentials are no longer valid.
func (w *waits) revoke(gone func(Asker) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for v, cancel := range w.open {
		if !v.Owner && gone(v.By) {
			cancel(errRevoked)
		}
	}
}

// askers returns the callers of the open requests.
func (w *waits) askers() map[Asker]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := map[Asker]bool{}
	for v := range w.open {
		if !v.Owner {
			found[v.By] = true
		}
	}
	return found
}

// review cancels the requests whose token was revoked since, by any process.
func (s *Server) review(ctx context.Context) {
	askers := s.waiting.askers()
	for by := range askers {
		_, err := s.recognize(ctx, by)
		kind := chela.KindOf(err)
		askers[by] = kind == chela.Denied || kind == chela.NotFound
	}
	s.waiting.revoke(func(by Asker) bool { return askers[by] })
}

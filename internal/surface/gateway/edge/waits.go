package edge

import (
	"context"
	"maps"
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

// leave signals once that no request is open; w.mu is held.
func (w *waits) leave() {
	if !w.closing || len(w.open) > 0 {
		return
	}
	select {
	case <-w.empty:
	default:
		close(w.empty)
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

// shown is a credential.
type shown struct{ secret, cookie string }

// askers returns the callers of the open requests, each once.
func (w *waits) askers() map[shown]Asker {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := map[shown]Asker{}
	for v := range w.open {
		if !v.Owner {
			found[shown{v.By.Secret, v.By.Cookie}] = v.By
		}
	}
	return found
}

// review cancels the requests whose token was revoked since, by any process.
func (s *Server) review(ctx context.Context) {
	askers := s.waiting.askers()
	maps.DeleteFunc(askers, func(_ shown, by Asker) bool {
		_, err := s.cfg.Recognize(ctx, by)
		kind := chela.KindOf(err)
		return kind != chela.Denied && kind != chela.NotFound
	})
	if len(askers) == 0 {
		return
	}
	s.waiting.revoke(func(by Asker) bool {
		_, revoked := askers[shown{by.Secret, by.Cookie}]
		return revoked
	})
}

package turn

// This part of the package lets other goroutines control a running turn: stop
// it, park it, or signal waiting messages.

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// The cancellation causes of a run's context that the turn handles itself.
var (
	ErrStopped = errors.New("the turn was asked to stop")
	ErrTimeUp  = errors.New("the turn's time is up")
)

// ErrParked cancels the pending model request of a parked run.
var ErrParked = errors.New("the turn is left to another run")

// ErrStuck cancels a run without progress. The turn is retried: steps not yet
// appended are discarded, and the outcome of a call in flight is unknown.
var ErrStuck = errors.New("the run made no progress for too long")

// A Handle controls one running turn from other goroutines. The zero value is
// ready; it serves one run.
type Handle struct {
	steer atomic.Bool

	mu     sync.Mutex
	stop   bool // guarded by mu, like all below
	park   bool
	cancel context.CancelCauseFunc // set while a run is attached
	leave  context.CancelCauseFunc // set during a request to the model
}

// Stop interrupts the turn: the partial answer of the model is kept, running
// tools are cancelled.
func (h *Handle) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop = true
	if h.cancel != nil {
		h.cancel(ErrStopped)
	}
}

// TimeUp ends the turn like Stop, with an exceeded time limit as the reason.
func (h *Handle) TimeUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancel != nil {
		h.cancel(ErrTimeUp)
	}
}

// CutOff cancels the run with ErrStuck. It has no effect on a run that is
// already stopping or parking.
func (h *Handle) CutOff() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancel != nil && !h.stop && !h.park {
		h.cancel(ErrStuck)
	}
}

// Park asks the run to end at its next commit and leave the turn to another
// run. A pending model request is cancelled: repeating it costs money but has
// no other effect.
func (h *Handle) Park() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.park = true
	if h.leave != nil {
		h.leave(ErrParked)
	}
}

// Asking returns the context of a model request, which is cancelled when the
// run is parked. The returned function must be called after the request.
func (h *Handle) Asking(ctx context.Context) (context.Context, func()) {
	ctx, leave := context.WithCancelCause(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leave = leave
	if h.park {
		leave(ErrParked)
	}
	return ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.leave = nil
		leave(nil)
	}
}

// Steer signals the run that messages wait to enter the turn.
func (h *Handle) Steer() { h.steer.Store(true) }

// Attach registers the run's cancel function for Stop until the returned
// function is called. A handle that was stopped before cancels at once.
func (h *Handle) Attach(cancel context.CancelCauseFunc) func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancel = cancel
	if h.stop {
		cancel(ErrStopped)
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.cancel = nil
	}
}

// Parked reports whether the run should end at its next commit.
func (h *Handle) Parked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.park
}

// Steering reports whether messages wait to enter the turn.
func (h *Handle) Steering() bool { return h.steer.Load() }

// Steered clears the signal of Steer before the run reads the waiting messages.
func (h *Handle) Steered() { h.steer.Store(false) }

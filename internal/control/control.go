// Package control reaches a turn that runs from other goroutines: it stops it,
// parks it, and tells it that messages wait.
package control

import (
	"context"
	"errors"
	"sync"
)

// The causes with which a run's context ends that the turn itself deals with.
var (
	ErrStopped = errors.New("the turn was asked to stop")
	ErrTimeUp  = errors.New("the turn's time is up")
)

// ErrParked is the cause with which a request to the model ends that a parked
// run would have waited for.
var ErrParked = errors.New("the turn is left to another run")

// ErrStuck is the cause with which a run is cut off of which nothing came for too
// long. The turn is tried again: what the run had not appended is as if it had not
// happened, and a call under way may or may not have.
var ErrStuck = errors.New("nothing came of the run for too long")

// A Handle reaches a running turn from other goroutines. The zero value is
// ready; it serves one run.
type Handle struct {
	mu     sync.Mutex
	stop   bool // guarded by mu, like all below
	park   bool
	steer  bool
	cancel context.CancelCauseFunc // set while a run is attached
	leave  context.CancelCauseFunc // set while the model is asked
}

// Stop interrupts the turn: what the model has said so far is kept, tools that
// run are cancelled.
func (h *Handle) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop = true
	if h.cancel != nil {
		h.cancel(ErrStopped)
	}
}

// TimeUp ends the turn as Stop does, but as one whose time is up.
func (h *Handle) TimeUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancel != nil {
		h.cancel(ErrTimeUp)
	}
}

// CutOff ends the run, as far as it can be, with ErrStuck. A run that is ending
// already is left alone.
func (h *Handle) CutOff() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancel != nil && !h.stop && !h.park {
		h.cancel(ErrStuck)
	}
}

// Park asks the run to end at its next commit and leave the turn for another
// run. An answer of the model is not waited for: asking again does no harm but
// cost.
func (h *Handle) Park() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.park = true
	if h.leave != nil {
		h.leave(ErrParked)
	}
}

// Asking returns the context of a request to the model, which ends when the run
// is parked. The returned function must be called after the request.
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

// Steer tells the run that messages wait to enter the turn.
func (h *Handle) Steer() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steer = true
}

// Attach lets Stop end something with cancel, until the returned function is
// called. A turn that was stopped before is ended at once.
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
func (h *Handle) Steering() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.steer
}

// Steered says that the messages that waited were looked at.
func (h *Handle) Steered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steer = false
}

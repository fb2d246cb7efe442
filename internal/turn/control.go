package turn

import (
	"context"
	"errors"
	"sync"
)

// The causes with which a run's context ends that the turn itself deals with.
var (
	errStopped = errors.New("the turn was asked to stop")
	errTimeUp  = errors.New("the turn's time is up")
)

// errParked is the cause with which a request to the model ends that a parked
// run would have waited for.
var errParked = errors.New("the turn is left to another run")

// A Control reaches a running turn from other goroutines. The zero value is
// ready; it serves one run.
type Control struct {
	mu     sync.Mutex
	stop   bool // guarded by mu, like all below
	park   bool
	steer  bool
	cancel context.CancelCauseFunc // set while a run is attached
	leave  context.CancelCauseFunc // set while the model is asked
}

// Stop interrupts the turn: what the model has said so far is kept, tools that
// run are cancelled.
func (c *Control) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = true
	if c.cancel != nil {
		c.cancel(errStopped)
	}
}

// TimeUp ends the turn as Stop does, but as one whose time is up.
func (c *Control) TimeUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel(errTimeUp)
	}
}

// Park asks the run to end at its next commit and leave the turn for another
// run. An answer of the model is not waited for: asking again does no harm but
// cost.
func (c *Control) Park() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.park = true
	if c.leave != nil {
		c.leave(errParked)
	}
}

// asking returns the context of a request to the model, which ends when the run
// is parked. The returned function must be called after the request.
func (c *Control) asking(ctx context.Context) (context.Context, func()) {
	ctx, leave := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave = leave
	if c.park {
		leave(errParked)
	}
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.leave = nil
		leave(nil)
	}
}

// Steer tells the run that messages wait to enter the turn.
func (c *Control) Steer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steer = true
}

// Attach lets Stop end something with cancel, until the returned function is
// called. A turn that was stopped before is ended at once.
func (c *Control) Attach(cancel context.CancelCauseFunc) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	if c.stop {
		cancel(errStopped)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cancel = nil
	}
}

func (c *Control) parked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.park
}

func (c *Control) steering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steer
}

func (c *Control) steered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steer = false
}

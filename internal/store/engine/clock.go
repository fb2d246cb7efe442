package engine

import (
	"sync"
	"time"
)

// syncEvery is the lifetime of a clock measurement. A good quartz clock drifts
// by less than 1 ms in that time.
const syncEvery = 5 * time.Second

// maxUncertainty bounds the error of a measurement that replaces an earlier
// one. A server that takes longer to answer is under load.
const maxUncertainty = 250 * time.Millisecond

// A clock estimates the time of the database server. Nodes that share a
// database need one clock: a node whose own clock is ahead would find the
// leases of the others expired. Between two measurements it advances by the
// monotonic clock, so that a step of the local clock does not affect it.
type clock struct {
	now func() time.Time // the local clock

	mu     sync.Mutex
	local  time.Time // of the newest measurement; zero before the first one
	server time.Time
}

// Now returns the time of the server, or the local time before the first
// measurement.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.local.IsZero() {
		return c.now()
	}
	return c.server.Add(c.now().Sub(c.local))
}

// due reports whether a new measurement is due; never without a local clock.
func (c *clock) due() bool {
	if c.now == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.local.IsZero() || c.now().Sub(c.local).Abs() >= syncEvery
}

// measure requests the server's time, which is assumed to be the middle of the
// request: the error is at most half of its duration.
func (c *clock) measure(ask func() (time.Time, error)) {
	begun := c.now()
	server, err := ask()
	took := c.now().Sub(begun)
	if err != nil {
		return // the following transaction meets and reports the same error
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.local.IsZero() || took/2 <= maxUncertainty {
		c.local, c.server = begun.Add(took/2), server
	}
}

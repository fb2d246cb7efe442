package lane

import (
	"sync"
	"time"

	"chela"
)

// Alarms holds at most one alarm per lane: a timer without a goroutine. Alarms
// are not durable; the periodic takeover finds the lanes of a process that
// ended first. It is safe for concurrent use.
type Alarms struct {
	ring func(chela.SessionKey)

	mu   sync.Mutex
	set  map[chela.SessionKey]*time.Timer // guarded by mu, like all below
	over bool
}

// NewAlarms returns alarms that call ring, which must not block for long.
func NewAlarms(ring func(chela.SessionKey)) *Alarms {
	return &Alarms{ring: ring, set: map[chela.SessionKey]*time.Timer{}}
}

// Set sets the alarm of a lane, replacing an earlier one.
func (a *Alarms) Set(key chela.SessionKey, in time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	if earlier := a.set[key]; earlier != nil {
		earlier.Stop()
	}
	var timer *time.Timer
	timer = time.AfterFunc(in, func() {
		if !a.is(key, timer) { // it was replaced or stopped
			return
		}
		a.ring(key)
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.set[key] == timer {
			delete(a.set, key) // after the call, so that there is no moment without either
		}
	})
	a.set[key] = timer
}

// is reports whether a timer is the alarm of a lane.
func (a *Alarms) is(key chela.SessionKey, timer *time.Timer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set[key] == timer
}

// Any reports whether there is an alarm. One is counted until ring has returned.
func (a *Alarms) Any() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.set) > 0
}

// IsSet reports whether a lane has an alarm.
func (a *Alarms) IsSet(key chela.SessionKey) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set[key] != nil
}

// Stop cancels all alarms and disables Set.
func (a *Alarms) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for _, timer := range a.set {
		timer.Stop()
	}
	clear(a.set)
}

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
	set  map[chela.SessionKey]*alarm // guarded by mu, like all below
	over bool
}

// An alarm is one call of Set, which a later one replaces.
type alarm struct {
	timer *time.Timer // guarded by Alarms.mu
}

// NewAlarms returns alarms that call ring, which must not block for long.
func NewAlarms(ring func(chela.SessionKey)) *Alarms {
	return &Alarms{ring: ring, set: map[chela.SessionKey]*alarm{}}
}

// Set sets the alarm of a lane, replacing an earlier one.
func (a *Alarms) Set(key chela.SessionKey, in time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	if earlier := a.set[key]; earlier != nil {
		earlier.timer.Stop()
	}
	this := &alarm{}
	this.timer = time.AfterFunc(in, func() {
		if !a.is(key, this) { // it was replaced or stopped
			return
		}
		a.ring(key)
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.set[key] == this {
			delete(a.set, key) // after the call, so that there is no moment without either
		}
	})
	a.set[key] = this
}

// is reports whether an alarm is the present one of a lane.
func (a *Alarms) is(key chela.SessionKey, this *alarm) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set[key] == this
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
	for _, set := range a.set {
		set.timer.Stop()
	}
	clear(a.set)
}

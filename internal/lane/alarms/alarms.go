// Package alarms wakes lanes at a time.
package alarms

import (
	"sync"
	"time"

	"chela"
)

// Alarms has at most one alarm for each lane: a timer, and no goroutine. If the
// process ends first, whoever takes up lanes next finds what it was for. It may be
// used by several goroutines at once.
type Alarms struct {
	ring func(chela.SessionKey)

	mu   sync.Mutex
	set  map[chela.SessionKey]*alarm // guarded by mu, like all below
	over bool
}

type alarm struct{ timer *time.Timer }

func (al *alarm) stop() {
	if al != nil {
		al.timer.Stop()
	}
}

// New returns alarms that call ring, which must not block for long.
func New(ring func(chela.SessionKey)) *Alarms {
	return &Alarms{ring: ring, set: map[chela.SessionKey]*alarm{}}
}

// Set sets the alarm of a lane. What was set for it before is forgotten.
func (a *Alarms) Set(key chela.SessionKey, in time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	a.set[key].stop()
	al := &alarm{}
	a.set[key] = al
	al.timer = time.AfterFunc(in, func() {
		if a.due(key, al) {
			a.ring(key)
		}
	})
}

// due forgets an alarm whose time has come, unless another one was set meanwhile.
func (a *Alarms) due(key chela.SessionKey, al *alarm) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over || a.set[key] != al {
		return false
	}
	delete(a.set, key)
	return true
}

// IsSet reports whether a lane has an alarm.
func (a *Alarms) IsSet(key chela.SessionKey) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set[key] != nil
}

// Stop forgets all alarms, also those that are set later.
func (a *Alarms) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for _, al := range a.set {
		al.stop()
	}
}

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

type alarm struct{ timer *time.Timer }

func (al *alarm) stop() {
	if al != nil {
		al.timer.Stop()
	}
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
	a.set[key].stop()
	al := &alarm{}
	a.set[key] = al
	al.timer = time.AfterFunc(in, func() {
		if a.due(key, al) {
			a.ring(key)
		}
	})
}

// due removes an alarm that fired, unless it was replaced.
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

// Stop cancels all alarms and disables Set.
func (a *Alarms) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for _, al := range a.set {
		al.stop()
	}
}

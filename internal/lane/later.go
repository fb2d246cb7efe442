package lane

import (
	"context"
	"time"

	"chela"
)

// wakeAt wakes a lane at a time: that is when its messages will have been left
// alone for long enough. What was asked for the same lane before is forgotten. An
// idle lane costs a timer and no goroutine; if this process ends first, whoever
// takes up lanes next finds the messages.
func (l *Lanes) wakeAt(key chela.SessionKey, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return
	}
	if t := l.timers[key]; t != nil {
		t.Stop()
	}
	var t *time.Timer
	t = time.AfterFunc(at.Sub(l.cfg.Now()), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.closing || l.timers[key] != t {
			return
		}
		delete(l.timers, key)
		l.turns.Go(func() { l.wakeLater(context.Background(), key) }) // one transaction; Run waits for it
	})
	l.timers[key] = t
}

// sleeps reports whether a lane is to be woken later.
func (l *Lanes) sleeps(key chela.SessionKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.timers[key] != nil
}

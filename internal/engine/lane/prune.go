package lane

import (
	"time"

	"chela/internal/engine/session"
)

// ManyLive is the number of live sessions, cached or with a running turn, that
// triggers a warning.
const ManyLive = 1000

// Prune evicts idle conversations from memory; their next message reads them
// again. Running turns are not affected. It warns once when the number of live
// sessions reaches ManyLive, and again only after it dropped below.
func (l *Lanes) Prune(idle time.Duration) {
	gone, live := l.known.Prune(l.cfg.Now().Add(-idle))
	l.mu.Lock()
	for key := range l.held {
		live[key] = true
	}
	many := len(live) >= ManyLive
	if many && !l.crowded {
		l.cfg.Log.Warn("many sessions are live", "sessions", len(live), "limit", ManyLive)
	}
	l.crowded = many
	l.mu.Unlock()
	for _, t := range gone {
		if !live[t.Session] {
			l.cfg.Ended(session.End{Session: t.Session, Thread: t.ID, Reason: session.Unloaded})
			live[t.Session] = true // announced once
		}
	}
}

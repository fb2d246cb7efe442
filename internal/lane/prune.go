package lane

import (
	"time"

	"chela/internal/session"
)

// ManyLive is how many sessions may be live before a person is warned: those in
// memory and those in which a turn runs.
const ManyLive = 1000

// Prune lets the conversations that nobody has used for a while leave memory; the
// next message reads them again. What runs is not touched. Once too many
// sessions are live it warns, and again only after there were fewer.
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
			live[t.Session] = true // told once
		}
	}
}

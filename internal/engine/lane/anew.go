package lane

import (
	"chela"
	"chela/internal/engine/session"
	"chela/internal/store"
)

// anew returns why a message starts a new thread instead of continuing the
// current one, or "". Only an idle conversation restarts: a running turn, a
// pending approval or waiting messages keep the thread.
func (l *Lanes) anew(in chela.Inbound, at store.Arrival) session.Reason {
	rests := at.Thread.State == chela.ThreadIdle || at.Thread.State == chela.ThreadInterrupted
	if in.Thread != "" || len(in.Results) > 0 || !rests || at.Waits || at.Thread.Seq == 0 {
		return ""
	}
	last := at.Thread.UpdatedAt
	if at.Session.UpdatedAt.After(last) { // the thread was made current again later
		last = at.Session.UpdatedAt
	}
	return l.cfg.Resets.Why(at.Session.Key, last, l.cfg.Now())
}

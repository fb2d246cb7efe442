package lane

import (
	"chela"
	"chela/internal/session"
	"chela/internal/store"
)

// anew returns why a message does not go on with the current thread of its
// session, or "" if it does. Only a conversation that rests can begin anew: what
// runs, waits for a person or has messages waiting goes on.
func (l *Lanes) anew(in chela.Inbound, at store.Arrival) session.Reason {
	rests := at.Thread.State == chela.ThreadIdle || at.Thread.State == chela.ThreadInterrupted
	if in.Thread != "" || len(in.Results) > 0 || !rests || at.Waits || at.Thread.Seq == 0 {
		return ""
	}
	last := at.Thread.UpdatedAt
	if at.Session.UpdatedAt.After(last) { // somebody came back to the thread
		last = at.Session.UpdatedAt
	}
	return l.cfg.Resets.Why(at.Session.Key, last, l.cfg.Now())
}

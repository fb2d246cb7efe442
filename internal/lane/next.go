package lane

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/journal"
	"chela/internal/queue"
	"chela/internal/store"
	"chela/internal/turn/machine"
)

// A prospect is what a lane should go on with. The zero value is nothing.
type prospect struct {
	ready *chela.Turn     // that may go on
	take  []chela.Waiting // that become a turn
	in    place           // where
	later time.Time       // when there will be something, if there is nothing now
}

// now reports whether there is something to go on with.
func (p prospect) now() bool { return p.ready != nil || len(p.take) > 0 }

// A place is a thread in which a turn may begin.
type place struct {
	thread  chela.Thread
	offered *machine.State // of the turn that waits there for results of offered tools; it is ended first
}

// look finds what a lane should go on with: a turn that is ready, or what waits
// in the inbox.
func (l *Lanes) look(ctx context.Context, r *store.Read, session chela.Session) (prospect, error) {
	ready, ok, err := r.ReadyTurn(ctx, session.Key)
	if err != nil {
		return prospect{}, err
	}
	if ok {
		return prospect{ready: &ready}, nil
	}
	waiting, err := r.Waiting(ctx, session.Key, maxWaiting)
	if err != nil || len(waiting) == 0 {
		return prospect{}, err
	}
	if rewinding, err := r.IsRewinding(ctx, session.Key); err != nil || rewinding {
		return prospect{}, err
	}
	places, err := l.placesOf(ctx, r, waiting)
	if err != nil {
		return prospect{}, err
	}
	waiting = slices.DeleteFunc(waiting, func(m chela.Waiting) bool { return places[m.Thread].thread.ID == "" })
	l.cfg.Queue.Settle(waiting, session.Settings)
	d := queue.Plan(waiting, nil, l.cfg.Now())
	p := prospect{take: queue.Pick(waiting, d.Take), later: d.NotBefore}
	if len(p.take) > 0 {
		p.in = places[p.take[0].Thread]
	}
	return p, nil
}

// placesOf returns the threads of messages in which a turn may begin. One whose
// turn waits for a person is none, one whose turn waits for results of offered
// tools is.
func (l *Lanes) placesOf(ctx context.Context, r *store.Read, waiting []chela.Waiting) (map[chela.ThreadID]place, error) {
	places := make(map[chela.ThreadID]place, 1)
	for _, m := range waiting {
		if _, known := places[m.Thread]; known {
			continue
		}
		thread, err := r.Thread(ctx, m.Thread)
		if err != nil {
			return nil, err
		}
		if thread.State.CanMove(chela.ThreadProcessing) && thread.State != chela.ThreadAwaiting {
			places[m.Thread] = place{thread: thread}
			continue
		}
		places[m.Thread] = place{}
		s, offered, err := journal.HandedOut(ctx, r, thread)
		if err != nil {
			return nil, err
		}
		if offered {
			places[m.Thread] = place{thread: thread, offered: &s}
		}
	}
	return places, nil
}

// next looks what a lane should go on with and writes that it does. The lane's
// row is locked. It returns nil if there is nothing now, and when there will be, if
// that is known.
func (l *Lanes) next(ctx context.Context, w *store.Write, session chela.Session) (*opened, time.Time, error) {
	p, err := l.look(ctx, &w.Read, session)
	if err != nil || !p.now() {
		return nil, p.later, err
	}
	if p.ready != nil {
		return &opened{turn: *p.ready, session: session}, time.Time{}, nil
	}
	o := opened{thread: p.in.thread, session: session, untold: true}
	if p.in.offered != nil {
		if o.thread, o.ended, err = l.supersede(ctx, w, *p.in.offered); err != nil {
			return nil, time.Time{}, err
		}
	}
	id := l.cfg.IDs.Turn()
	for i := range p.take {
		p.take[i].State, p.take[i].Turn = chela.InboxTaken, id
		if err := w.MoveMessage(ctx, p.take[i]); err != nil {
			return nil, time.Time{}, err
		}
	}
	begun, err := l.open(ctx, w, o, p.take)
	return begun, time.Time{}, err
}

// nextWanted is next, but leaves the lane to another process that lives and
// waits for it.
func (l *Lanes) nextWanted(ctx context.Context, w *store.Write, session chela.Session) (*opened, time.Time, error) {
	waiting, err := w.Waiting(ctx, session.Key, 1)
	if err != nil || len(waiting) > 0 && !l.wants(waiting[0]) {
		return nil, time.Time{}, err
	}
	if session, err = w.Session(ctx, session.Key); err != nil { // its settings may have changed while the turn ran
		return nil, time.Time{}, err
	}
	return l.next(ctx, w, session)
}

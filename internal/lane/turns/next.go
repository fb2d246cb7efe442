package turns

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

// A Prospect is what a lane should go on with. The zero value is nothing.
type Prospect struct {
	ready *chela.Turn     // that may go on
	take  []chela.Waiting // that become a turn
	in    place           // where
	Later time.Time       // when there will be something, if there is nothing now
}

// Now reports whether there is something to go on with.
func (p Prospect) Now() bool { return p.ready != nil || len(p.take) > 0 }

// A place is a thread in which a turn may begin.
type place struct {
	thread  chela.Thread
	offered *machine.State // of the turn that waits there for results of offered tools; it is ended first
}

// Look finds what a lane should go on with: a turn that is ready, or what waits
// in the inbox.
func (op *Opener) Look(ctx context.Context, r *store.Read, session chela.Session) (Prospect, error) {
	ready, ok, err := r.ReadyTurn(ctx, session.Key)
	if err != nil {
		return Prospect{}, err
	}
	if ok {
		return Prospect{ready: &ready}, nil
	}
	waiting, err := r.Waiting(ctx, session.Key, chela.MaxWaiting)
	if err != nil || len(waiting) == 0 {
		return Prospect{}, err
	}
	if rewinding, err := r.IsRewinding(ctx, session.Key); err != nil || rewinding {
		return Prospect{}, err
	}
	places, err := op.placesOf(ctx, r, waiting)
	if err != nil {
		return Prospect{}, err
	}
	waiting = slices.DeleteFunc(waiting, func(m chela.Waiting) bool { return places[m.Thread].thread.ID == "" })
	op.Queue.Settle(waiting, session.Settings)
	d := queue.Plan(waiting, nil, op.Now())
	p := Prospect{take: queue.Pick(waiting, d.Take), Later: d.NotBefore}
	if len(p.take) > 0 {
		p.in = places[p.take[0].Thread]
	}
	return p, nil
}

// placesOf returns the threads of messages in which a turn may begin. One whose
// turn waits for a person is none, one whose turn waits for results of offered
// tools is.
func (op *Opener) placesOf(ctx context.Context, r *store.Read, waiting []chela.Waiting) (map[chela.ThreadID]place, error) {
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

// Next looks what a lane should go on with and writes that it does. The lane's
// row is locked. It returns nil if there is nothing now, and when there will be, if
// that is known.
func (op *Opener) Next(ctx context.Context, w *store.Write, session chela.Session) (*Opened, time.Time, error) {
	p, err := op.Look(ctx, &w.Read, session)
	if err != nil || !p.Now() {
		return nil, p.Later, err
	}
	if p.ready != nil {
		return &Opened{Turn: *p.ready, Session: session}, time.Time{}, nil
	}
	o := Opened{Thread: p.in.thread, Session: session, Untold: true}
	if p.in.offered != nil {
		if o.Thread, o.Ended, err = op.Supersede(ctx, w, *p.in.offered); err != nil {
			return nil, time.Time{}, err
		}
	}
	id := op.IDs.Turn()
	for i := range p.take {
		p.take[i].State, p.take[i].Turn = chela.InboxTaken, id
		if err := w.MoveMessage(ctx, p.take[i]); err != nil {
			return nil, time.Time{}, err
		}
	}
	begun, err := op.Open(ctx, w, o, p.take)
	return begun, time.Time{}, err
}

// Change stores what becomes of a turn that does not run, and returns what is
// to be announced of it after the commit.
func (op *Opener) Change(ctx context.Context, w *store.Write, ch machine.Change) ([]chela.Event, error) {
	if err := journal.Write(ctx, w, ch); err != nil {
		return nil, err
	}
	return ch.Events, w.Announce(ctx, op.Now(), ch.Events)
}

// Supersede ends the turn that waits for results in a thread, as a message
// wants a turn of its own there. It returns the thread as it is then, and what
// is to be announced.
func (op *Opener) Supersede(ctx context.Context, w *store.Write, s machine.State) (chela.Thread, []chela.Event, error) {
	ch := op.Runner.Supersede(s)
	events, err := op.Change(ctx, w, ch)
	return *ch.Thread, events, err
}

package lane

import (
	"context"
	"slices"
	"time"

	"chela"
	"chela/internal/engine/turn/machine"
	"chela/internal/store"
)

// A Prospect is the next work of a lane. The zero value is none.
type Prospect struct {
	ready *chela.Turn          // turn ready to continue
	take  []chela.InboxMessage // messages that form a turn
	in    threadPlace          // thread of the new turn
	Later time.Time            // when there will be work, if there is none now
}

// Now reports whether there is work.
func (p Prospect) Now() bool { return p.ready != nil || len(p.take) > 0 }

// A threadPlace is a thread where a turn may begin.
type threadPlace struct {
	thread  chela.Thread
	offered *machine.State // the turn waiting there for client-side results; it is ended first
}

// Look finds the next work of a lane: a ready turn, or messages of the inbox.
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
	waiting = slices.DeleteFunc(waiting, func(m chela.InboxMessage) bool { return places[m.Thread].thread.ID == "" })
	op.Queue.Settle(waiting, session.Settings)
	d := plan(waiting, nil, op.Now())
	p := Prospect{take: pick(waiting, d.Take), Later: d.NotBefore}
	if len(p.take) > 0 {
		p.in = places[p.take[0].Thread]
	}
	return p, nil
}

// placesOf returns the threads of messages where a turn may begin. A thread
// waiting for a person is excluded, a thread waiting for client-side results is
// not.
func (op *Opener) placesOf(ctx context.Context, r *store.Read, waiting []chela.InboxMessage) (map[chela.ThreadID]threadPlace, error) {
	places := make(map[chela.ThreadID]threadPlace, 1)
	for _, m := range waiting {
		if _, known := places[m.Thread]; known {
			continue
		}
		thread, err := r.Thread(ctx, m.Thread)
		if err != nil {
			return nil, err
		}
		if thread.State.CanMove(chela.ThreadProcessing) && thread.State != chela.ThreadAwaiting {
			places[m.Thread] = threadPlace{thread: thread}
			continue
		}
		places[m.Thread] = threadPlace{}
		s, offered, err := handedOut(ctx, r, thread)
		if err != nil {
			return nil, err
		}
		if offered {
			places[m.Thread] = threadPlace{thread: thread, offered: &s}
		}
	}
	return places, nil
}

// Next finds the next work of a lane and opens its turn. The lane's row must be
// locked. It returns nil if there is none now, and when there will be, if
// known.
func (op *Opener) Next(ctx context.Context, w *store.Write, session chela.Session) (*OpenedTurn, time.Time, error) {
	p, err := op.Look(ctx, &w.Read, session)
	if err != nil || !p.Now() {
		return nil, p.Later, err
	}
	if p.ready != nil {
		return &OpenedTurn{Turn: *p.ready, Session: session}, time.Time{}, nil
	}
	o := OpenedTurn{Thread: p.in.thread, Session: session, Untold: true}
	if p.in.offered != nil {
		if o.Thread, err = op.Supersede(ctx, w, *p.in.offered); err != nil {
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

// Change stores and announces a change of a turn that does not run.
func (op *Opener) Change(ctx context.Context, w *store.Write, ch machine.Change) error {
	if err := writeChange(ctx, w, ch); err != nil {
		return err
	}
	return w.Announce(ctx, op.Now(), ch.Events)
}

// Supersede ends the turn that waits for client-side results, because another
// message opens a turn in its thread. It returns the updated thread.
func (op *Opener) Supersede(ctx context.Context, w *store.Write, s machine.State) (chela.Thread, error) {
	ch := op.Runner.Supersede(s)
	return *ch.Thread, op.Change(ctx, w, ch)
}

package lane

import (
	"context"
	"time"

	"chela"
	"chela/internal/journal"
	"chela/internal/queue"
	"chela/internal/store"
	"chela/internal/turn/machine"
)

// An appender is the journal of one run, under its lease.
type appender struct {
	lanes   *Lanes
	lease   chela.Lease
	class   chela.Class
	session chela.Session
	turn    chela.Turn // as the run began with it
	next    *opened    // what the lane goes on with after the run
	rewind  bool       // a rewind of the session has waited for the end of the run
}

// Append implements turn.Journal. A change that ends the turn, or lets it wait
// for a person, also decides what the lane goes on with.
func (a *appender) Append(ctx context.Context, op string, ch machine.Change) error {
	var next *opened
	var later time.Time
	err := a.lanes.store.Write(ctx, op, func(w *store.Write) error {
		next, later = nil, time.Time{}
		lease := a.lanes.renewed(a.lease)
		if err := w.HoldLane(ctx, lease); err != nil {
			return err
		}
		if err := journal.Write(ctx, w, ch); err != nil {
			return err
		}
		if err := journal.Count(ctx, w, a.lease.Session, ch.Entries); err != nil {
			return err
		}
		if err := w.Announce(ctx, a.lanes.cfg.Now(), ch.Events); err != nil {
			return err
		}
		if ch.Turn == nil || ch.Turn.State == chela.TurnProcessing {
			return nil
		}
		more, err := w.HasMore(ctx, a.session.Key)
		if a.rewind = more.Rewind; err == nil && more.Turns {
			next, later, err = a.lanes.nextWanted(ctx, w, a.session)
		}
		if err != nil {
			return err
		}
		if next == nil {
			return w.ReleaseLane(ctx, lease)
		}
		next.lease, next.class = lease, a.class
		return w.ContinueLane(ctx, lease, next.turn.ID)
	})
	if err != nil {
		return err
	}
	a.lanes.tell(ch.Events)
	if next != nil {
		a.lanes.tell(next.ended)
		a.lanes.tell(next.events)
	} else if !later.IsZero() {
		a.lanes.wakeAt(a.lease.Session, later)
	}
	a.next = next
	return nil
}

// Steering implements turn.Journal. Messages for other threads of the session
// wait for turns of their own.
func (a *appender) Steering(ctx context.Context) ([]chela.Waiting, error) {
	var steering []chela.Waiting
	err := a.lanes.store.Read(ctx, func(r *store.Read) error {
		waiting, err := r.Waiting(ctx, a.lease.Session, maxWaiting)
		if err != nil || len(waiting) == 0 {
			return err
		}
		if rewinding, err := r.IsRewinding(ctx, a.lease.Session); err != nil || rewinding {
			return err // what enters now would be undone
		}
		session, err := r.Session(ctx, a.lease.Session) // its settings may have changed while the turn ran
		if err != nil {
			return err
		}
		a.lanes.cfg.Queue.Settle(waiting, session.Settings)
		steering = queue.Pick(waiting, queue.Plan(waiting, &a.turn, a.lanes.cfg.Now()).Steer)
		return nil
	})
	return steering, err
}

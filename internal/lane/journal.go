package lane

import (
	"context"

	"chela"
	"chela/internal/queue"
	"chela/internal/store"
	"chela/internal/turn"
)

// A journal appends for one run, under its lease.
type journal struct {
	lanes   *Lanes
	lease   chela.Lease
	class   chela.Class
	session chela.Session
	thread  chela.ThreadID
	next    *opened // what the lane goes on with after the run
}

// Append implements turn.Journal. A change that ends the turn, or lets it wait
// for a person, also decides what the lane goes on with.
func (j *journal) Append(ctx context.Context, op string, ch turn.Change) error {
	var next *opened
	err := j.lanes.store.Write(ctx, op, func(w *store.Write) error {
		lease := j.lanes.renewed(j.lease)
		if err := w.HoldLane(ctx, lease); err != nil {
			return err
		}
		if err := write(ctx, w, ch); err != nil {
			return err
		}
		if err := w.Announce(ctx, j.lanes.cfg.Now(), ch.Events); err != nil {
			return err
		}
		if ch.Turn == nil || ch.Turn.State == chela.TurnProcessing {
			return nil
		}
		var err error
		if next, err = j.lanes.nextWanted(ctx, w, j.session); err != nil {
			return err
		}
		if next == nil {
			return w.ReleaseLane(ctx, lease)
		}
		next.lease, next.class = lease, j.class
		return w.ContinueLane(ctx, lease, next.turn.ID)
	})
	if err != nil {
		return err
	}
	j.lanes.tell(ch.Events)
	if next != nil {
		j.lanes.tell(next.ended)
		j.lanes.tell(next.events)
	}
	j.next = next
	return nil
}

// Steering implements turn.Journal. Messages for other threads of the session
// wait for turns of their own.
func (j *journal) Steering(ctx context.Context) ([]chela.Waiting, error) {
	var steering []chela.Waiting
	err := j.lanes.store.Read(ctx, func(r *store.Read) error {
		waiting, err := r.Waiting(ctx, j.lease.Session, maxWaiting)
		for _, m := range waiting {
			if m.Thread == j.thread && queue.Plan(j.lanes.mode(j.session), []chela.Waiting{m}, true).Steer {
				steering = append(steering, m)
			}
		}
		return err
	})
	return steering, err
}

// write stores a change row by row.
func write(ctx context.Context, w *store.Write, ch turn.Change) error {
	if ch.Turn != nil {
		if err := w.MoveTurn(ctx, *ch.Turn, ch.TurnFrom); err != nil {
			return err
		}
	}
	for _, e := range ch.Entries {
		if err := w.AppendEntry(ctx, e); err != nil {
			return err
		}
	}
	if ch.Thread != nil {
		if err := w.MoveThread(ctx, ch.ThreadFrom, *ch.Thread); err != nil {
			return err
		}
	}
	if err := writeCalls(ctx, w, ch); err != nil {
		return err
	}
	for _, u := range ch.Usage {
		if err := w.Charge(ctx, u); err != nil {
			return err
		}
	}
	for _, m := range ch.Absorbed {
		if err := w.MoveMessage(ctx, m); err != nil {
			return err
		}
	}
	for _, o := range ch.Owed {
		if err := w.Owe(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// writeCalls stores the calls of a change and the questions about them.
func writeCalls(ctx context.Context, w *store.Write, ch turn.Change) error {
	for _, m := range ch.Calls {
		var err error
		if m.From == "" {
			err = w.AddCall(ctx, m.Call)
		} else {
			err = w.MoveCall(ctx, m.Call, m.From)
		}
		if err != nil {
			return err
		}
	}
	for _, a := range ch.Approvals {
		var err error
		if a.State == chela.ApprovalPending {
			err = w.AddApproval(ctx, a)
		} else {
			err = w.MoveApproval(ctx, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package turns

import (
	"context"
	"fmt"
	"time"

	"chela"
	"chela/internal/queue"
	"chela/internal/store"
)

// Interrupt asks the turns that are in the way of a message to stop, if it is one
// that does not wait for them: the one that the lane runs, and the one that is
// open in its thread.
func (op *Opener) Interrupt(ctx context.Context, w *store.Write, lane store.Lane, m chela.Waiting) ([]chela.TurnID, error) {
	if m.Queue.Mode != chela.QueueInterrupt {
		return nil, nil
	}
	live, err := w.LiveTurns(ctx, m.Session)
	if err != nil {
		return nil, err
	}
	var stopped []chela.TurnID
	for _, t := range live {
		if t.ID != lane.Turn && t.Thread != m.Thread || !queue.Plan([]chela.Waiting{m}, &t, m.CreatedAt).Stop {
			continue
		}
		if err := op.Stop(ctx, w, t); err != nil {
			return nil, err
		}
		stopped = append(stopped, t.ID)
	}
	return stopped, nil
}

// Stop stores the wish that a live turn ends. One that waits is made ready,
// to be ended by its next run. The turn's lane is locked.
func (op *Opener) Stop(ctx context.Context, w *store.Write, t chela.Turn) error {
	if err := w.RequestStop(ctx, t.ID); err != nil || t.State != chela.TurnAwaiting {
		return err
	}
	return Resume(ctx, w, t, op.Now())
}

// Resume makes a turn that waited for a person ready to run again; whoever wakes
// the lane once that is committed begins it. The caller has locked the turn's lane. It is a
// Conflict if the turn does not wait.
func Resume(ctx context.Context, w *store.Write, t chela.Turn, now time.Time) error {
	if t.State != chela.TurnAwaiting {
		return chela.E(chela.Conflict, fmt.Sprintf("turn %s does not wait for an answer any more", t.ID))
	}
	t.State = chela.TurnProcessing
	if err := w.MoveTurn(ctx, t, chela.TurnAwaiting); err != nil {
		return err
	}
	thread, err := w.Thread(ctx, t.Thread)
	if err != nil {
		return err
	}
	after := thread
	after.State, after.UpdatedAt = chela.ThreadProcessing, now
	return w.MoveThread(ctx, thread, after)
}

package lane

import (
	"context"
	"time"

	"chela"
	"chela/internal/store"
)

// Interrupt asks the turns that block an interrupting message to stop: the
// lane's running turn, and the open turn of its thread. Messages of other modes
// stop nothing.
func (op *Opener) Interrupt(ctx context.Context, w *store.Write, lane store.Lane, m chela.InboxMessage) ([]chela.TurnID, error) {
	if m.Queue.Mode != chela.QueueInterrupt {
		return nil, nil
	}
	live, err := w.LiveTurns(ctx, m.Session)
	if err != nil {
		return nil, err
	}
	var stopped []chela.TurnID
	for _, t := range live {
		if t.ID != lane.Turn && t.Thread != m.Thread || !plan([]chela.InboxMessage{m}, &t, m.CreatedAt).Stop {
			continue
		}
		if err := op.Stop(ctx, w, t); err != nil {
			return nil, err
		}
		stopped = append(stopped, t.ID)
	}
	return stopped, nil
}

// Stop records the request to end a live turn. A waiting turn becomes ready,
// and its next run ends it. The turn's lane must be locked.
func (op *Opener) Stop(ctx context.Context, w *store.Write, t chela.Turn) error {
	if err := w.RequestStop(ctx, t.ID); err != nil || t.State != chela.TurnAwaiting {
		return err
	}
	return ResumeTurn(ctx, w, t, op.Now())
}

// ResumeTurn makes a waiting turn ready to run; waking the lane after the commit
// starts it. The caller has locked the turn's lane. It is a Conflict if the
// turn does not wait.
func ResumeTurn(ctx context.Context, w *store.Write, t chela.Turn, now time.Time) error {
	if t.State != chela.TurnAwaiting {
		return chela.Ef(chela.Conflict, "turn %s no longer waits for an answer", t.ID)
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

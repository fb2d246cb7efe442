package lane

import (
	"context"
	"errors"
	"time"

	"chela"
	"chela/internal/store"
)

// offerTime is the timeout of client-side tool calls, and sweepTime the
// interval of its checks.
const (
	offerTime = 24 * time.Hour
	sweepTime = time.Minute
)

// bring is the transaction of a submission with results: they enter the turn
// that waits for them. When all results are there the turn is ready, and starts
// here if the lane is free. Unexpected results are a Conflict.
func (l *Lanes) bring(ctx context.Context, w *store.Write, lane store.Lane, m chela.InboxMessage) (arrival, error) {
	a := arrival{holder: lane.Owner}
	_, again, err := w.Delivered(ctx, m.Origin.Channel, m.Origin.Account, m.MessageID)
	if err != nil {
		return a, err
	}
	if again {
		a.receipt, err = known(ctx, &w.Read, m.Inbound)
		return a, err
	}
	thread, err := w.Thread(ctx, m.Thread)
	if err != nil {
		return a, err
	}
	s, ok, err := handedOut(ctx, &w.Read, thread)
	if err == nil && !ok {
		err = chela.E(chela.Conflict, "no call of the thread waits for a result").WithHint("send it as a message instead")
	}
	if err != nil {
		return a, err
	}
	m.State, m.Turn = chela.InboxTaken, s.Turn.ID
	ch, err := l.cfg.Runner.Bring(s, m)
	if err != nil {
		return a, err
	}
	if _, err := w.AddMessage(ctx, m, lane.Arrivals); err != nil {
		return a, err
	}
	if err := l.opener.Change(ctx, w, ch); err != nil {
		return a, err
	}
	a.receipt = receiptOf(m)
	if ch.Turn == nil || lane.Owner != "" {
		return a, nil
	}
	a.begun = &OpenedTurn{Lease: l.lease(lane), Class: lane.Class, Turn: *ch.Turn}
	return a, w.TakeLane(ctx, lane, a.begun.Lease, m.Turn)
}

// Sweep ends the turns whose client-side tool calls timed out. Failures are
// logged and retried with the next sweep.
func (l *Lanes) Sweep(ctx context.Context) {
	before := l.cfg.Now().Add(-offerTime)
	old, err := store.Find(ctx, l.store, func(r *store.Read) ([]chela.ToolCall, error) { return r.HandedOut(ctx, before, maxWaiting) })
	for _, c := range old {
		err = errors.Join(err, l.expire(ctx, c))
	}
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("client-side calls not expired", "error", err)
	}
}

// expire ends the turn of a client-side call without a result, unless the
// result arrived in the meantime.
func (l *Lanes) expire(ctx context.Context, c chela.ToolCall) error {
	err := l.store.Tell(ctx, "offer.expire", l.cfg.Emit, func(w *store.Write) error {
		if _, err := w.LockLane(ctx, c.Session); err != nil {
			return err
		}
		c, err := w.Call(ctx, c.ID)
		if err != nil || c.State.Ended() {
			return err
		}
		t, err := w.Turn(ctx, c.Turn)
		if err != nil || t.State != chela.TurnAwaiting {
			return err // it is being stopped
		}
		s, err := readPaused(ctx, &w.Read, t)
		if err != nil {
			return err
		}
		return l.opener.Change(ctx, w, l.cfg.Runner.Expire(s))
	})
	if err != nil {
		return err
	}
	l.wakeLater(ctx, c.Session) // messages may wait for the thread
	return nil
}

package lane

import (
	"context"
	"errors"
	"time"

	"chela"
	"chela/internal/journal"
	"chela/internal/lane/turns"
	"chela/internal/store"
)

// offerTime is how long the results of calls that were handed out are waited
// for, and sweepTime how often is looked whether it is over.
const (
	offerTime = 24 * time.Hour
	sweepTime = time.Minute
)

// bring is the transaction of a submission with results: they enter the turn
// that waits for them. Once it waits for no more it is ready, and begun here if
// the lane is free. Results that nothing waits for are refused.
func (l *Lanes) bring(ctx context.Context, w *store.Write, lane store.Lane, m chela.Waiting) (arrival, error) {
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
	s, ok, err := journal.HandedOut(ctx, &w.Read, thread)
	if err == nil && !ok {
		err = chela.E(chela.Conflict, "no call of the thread waits for a result").WithHint("send what you have as a message")
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
	if a.events, err = l.opener.Change(ctx, w, ch); err != nil {
		return a, err
	}
	a.receipt = Receipt{Inbox: m.ID, Session: m.Session, Thread: m.Thread, Turn: m.Turn}
	if ch.Turn == nil || lane.Owner != "" {
		return a, nil
	}
	a.begun = &turns.Opened{Lease: l.lease(lane), Class: lane.Class, Turn: *ch.Turn}
	return a, w.TakeLane(ctx, lane, a.begun.Lease, m.Turn)
}

// Sweep ends the turns whose calls were handed out more than a day ago and have
// no result. What fails is logged and looked at again with the next sweep.
func (l *Lanes) Sweep(ctx context.Context) {
	var old []chela.ToolCall
	before := l.cfg.Now().Add(-offerTime)
	err := l.store.Read(ctx, func(r *store.Read) error {
		var err error
		old, err = r.HandedOut(ctx, before, maxWaiting)
		return err
	})
	for _, c := range old {
		err = errors.Join(err, l.expire(ctx, c))
	}
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("calls that wait too long are not ended", "error", err)
	}
}

// expire ends the turn of a call that nobody brought a result of, unless
// somebody did in the last moment.
func (l *Lanes) expire(ctx context.Context, c chela.ToolCall) error {
	var events []chela.Event
	err := l.store.Write(ctx, "offer.expire", func(w *store.Write) error {
		events = nil
		if _, err := w.LockLane(ctx, c.Session); err != nil {
			return err
		}
		c, err := w.Call(ctx, c.ID)
		if err != nil || c.State.Ended() {
			return err
		}
		t, err := w.Turn(ctx, c.Turn)
		if err != nil || t.State != chela.TurnAwaiting {
			return err // somebody stops it
		}
		s, err := journal.Paused(ctx, &w.Read, t)
		if err != nil {
			return err
		}
		events, err = l.opener.Change(ctx, w, l.cfg.Runner.Expire(s))
		return err
	})
	if err != nil {
		return err
	}
	l.tell(events)
	l.wakeLater(ctx, c.Session) // a message may wait for the thread
	return nil
}

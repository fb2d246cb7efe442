package lane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"chela"
	"chela/internal/store"
)

// errShutdown is the cause with which runs are cut off that did not park in
// time.
var errShutdown = errors.New("chela is shutting down")

// Run keeps the leases of this process, notices what other processes ask of its
// turns and, with Config.Recover, takes over what others left. When ctx ends it
// parks the turns: each ends at its next commit, within 10 s, and goes on at
// the next start. It returns when every goroutine of the lanes has ended.
func (l *Lanes) Run(ctx context.Context) error {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	renewed := l.cfg.Now()
	if l.cfg.Recover {
		l.TakeUp(ctx)
	}
	for n := 1; ctx.Err() == nil; n++ {
		select {
		case <-ctx.Done():
		case <-tick.C:
			if l.cfg.Recover && n%4 == 0 {
				l.TakeUp(ctx)
			}
			held := l.holdings()
			if len(held) == 0 {
				continue
			}
			l.hear(ctx, held)
			if now := l.cfg.Now(); now.Sub(renewed) >= renewTime {
				renewed = now
				l.renew(ctx, held)
			}
		}
	}
	l.drain(context.WithoutCancel(ctx)) // turns go on to their next commit
	return nil
}

// drain parks every turn and waits for them, in the end by cutting them off.
// Until then their leases are kept.
func (l *Lanes) drain(ctx context.Context) {
	l.mu.Lock()
	l.closing = true
	for _, h := range l.held {
		h.control.Park()
	}
	l.mu.Unlock()
	ended := make(chan struct{})
	go func() { // ends with the last turn; drain waits for it
		l.turns.Wait()
		close(ended)
	}()
	tick := time.NewTicker(renewTime)
	defer tick.Stop()
	cut := time.NewTimer(drainTime)
	defer cut.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			l.renew(ctx, l.holdings())
		case <-cut.C:
			for _, h := range l.holdings() {
				h.cancel(errShutdown)
			}
		}
	}
}

func (l *Lanes) holdings() []*holding {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := make([]*holding, 0, len(l.held))
	for _, h := range l.held {
		held = append(held, h)
	}
	return held
}

// renew extends the leases. A lane that another node took over meanwhile has
// its run ended: it could not write any more anyway.
func (l *Lanes) renew(ctx context.Context, held []*holding) {
	var mine []store.Lane
	err := l.store.Write(ctx, "lane.renew", func(w *store.Write) error {
		var err error
		mine, err = w.RenewLanes(ctx, l.cfg.Node, l.cfg.Now().Add(leaseTime))
		return err
	})
	if err != nil {
		l.cfg.Log.Warn("leases not renewed", "error", err)
		return
	}
	for _, h := range held {
		still := slices.ContainsFunc(mine, func(lane store.Lane) bool {
			return lane.Session == h.lease.Session && lane.Token == h.lease.Token
		})
		if !still && l.holds(h) {
			h.cancel(errFenced)
		}
	}
}

// holds reports whether a lane is still served by the same holding.
func (l *Lanes) holds(h *holding) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[h.lease.Session] == h
}

// hear passes on what other processes wrote for the turns that run here: the
// wish to stop, and messages that may want to steer.
func (l *Lanes) hear(ctx context.Context, held []*holding) {
	err := l.store.Read(ctx, func(r *store.Read) error {
		for _, h := range held {
			t, err := r.Turn(ctx, h.turn)
			if err != nil {
				return err
			}
			if t.Stop {
				h.control.Stop()
			}
			waiting, err := r.Waiting(ctx, h.lease.Session, 1)
			if err != nil {
				return err
			}
			if len(waiting) > 0 {
				h.control.Steer() // the run looks whether a message wants to enter the turn
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("lanes not looked at", "error", err)
	}
}

// TakeUp takes every lane of the home that has something to run and nobody who
// runs it. What fails is logged: the lane stays for the next look.
func (l *Lanes) TakeUp(ctx context.Context) {
	var idle []chela.SessionKey
	err := l.store.Read(ctx, func(r *store.Read) error {
		held, err := r.HeldLanes(ctx)
		if err != nil {
			return err
		}
		for _, lane := range held {
			if l.left(lane) {
				idle = append(idle, lane.Session)
			}
		}
		free, err := r.FreeLanes(ctx, maxWaiting)
		for _, lane := range free {
			idle = append(idle, lane.Session)
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("lanes not looked at", "error", err)
	}
	for _, key := range idle {
		if err := l.Wake(ctx, key); err != nil && ctx.Err() == nil {
			l.cfg.Log.Warn("lane not taken", "session", key, "error", err)
		}
	}
}

// left reports whether a held lane may be taken from its holder.
func (l *Lanes) left(lane store.Lane) bool {
	if lane.Owner == l.cfg.Node {
		return false
	}
	return lane.ExpiresAt.Before(l.cfg.Now()) || l.cfg.Dead(lane.Owner)
}

// Wake looks whether a lane has something to run and nobody who runs it, and if
// so takes it. A turn whose last process died has that counted.
func (l *Lanes) Wake(ctx context.Context, key chela.SessionKey) error {
	if l.isClosing() {
		return nil
	}
	var lane store.Lane
	err := l.store.Read(ctx, func(r *store.Read) error {
		var err error
		lane, err = r.Lane(ctx, key)
		return err
	})
	if err != nil || lane.Owner != "" && !l.left(lane) {
		return err
	}
	var begun *opened
	err = l.store.Write(ctx, "lane.take", func(w *store.Write) error {
		begun = nil
		lane, err := w.Lane(ctx, key)
		if err != nil {
			return err
		}
		if lane.Owner != "" && !l.left(lane) {
			return nil
		}
		begun, err = l.take(ctx, w, lane)
		return err
	})
	if chela.KindOf(err) == chela.Conflict {
		return nil // somebody else took it
	}
	if err != nil || begun == nil {
		return err
	}
	l.begin(begun)
	return nil
}

// take is the transaction of a takeover.
func (l *Lanes) take(ctx context.Context, w *store.Write, lane store.Lane) (*opened, error) {
	lease := l.lease(lane)
	// The lane is taken first, so that its row is locked, and given back if
	// there is nothing to run.
	if err := w.TakeLane(ctx, lane, lease, lane.Turn); err != nil {
		return nil, err
	}
	session, err := w.Session(ctx, lane.Session)
	if err != nil {
		return nil, err
	}
	next, err := l.next(ctx, w, session)
	if err != nil {
		return nil, err
	}
	if next == nil {
		return nil, w.ReleaseLane(ctx, lease)
	}
	next.lease, next.class = lease, lane.Class
	if lane.Owner != "" && next.turn.ID == lane.Turn && next.entries == nil {
		next.turn.Crashes++
		if err := w.MoveTurn(ctx, next.turn, next.turn.State); err != nil {
			return nil, err
		}
	}
	return next, w.ContinueLane(ctx, lease, next.turn.ID)
}

// Stop asks a live turn to end, wherever it runs. It is a Conflict if the turn
// has ended. A turn that waits for a person is ended here.
func (l *Lanes) Stop(ctx context.Context, id chela.TurnID) error {
	var t chela.Turn
	err := l.store.Write(ctx, "turn.stop", func(w *store.Write) error {
		var err error
		if t, err = w.Turn(ctx, id); err != nil {
			return err
		}
		if t.State.Ended() {
			return chela.E(chela.Conflict, "turn "+string(id)+" has ended already").WithHint("chela turns show " + string(id) + " tells how")
		}
		if err := w.RequestStop(ctx, id); err != nil {
			return err
		}
		if t.State != chela.TurnAwaiting {
			return nil
		}
		return Resume(ctx, w, t, l.cfg.Now())
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	h := l.held[t.Session]
	if h != nil && h.turn == id {
		h.control.Stop()
	}
	l.mu.Unlock()
	return l.Wake(ctx, t.Session)
}

// Resume makes a turn that waited for a person ready to run again; Wake begins
// it once that is committed. It is a Conflict if the turn does not wait.
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

package lane

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"chela"
	"chela/internal/store"
)

// errShutdown is the cause with which runs are cut off that did not park in
// time.
var errShutdown = errors.New("chela is shutting down")

// Run keeps the leases of this process, notices what other processes ask of its
// turns and, with Config.Recover or after TakeUp, takes over what others left.
// When ctx ends it parks the turns: each ends at its next commit, within 10 s,
// or at once where it waits for its model, and goes on at the next start. It
// returns when every goroutine of the lanes has ended.
func (l *Lanes) Run(ctx context.Context) error {
	var taking sync.WaitGroup
	taking.Go(func() { l.takeLeft(ctx) }) // finishes rewinds, which may take long; no lease waits for it
	l.keep(ctx)
	l.drain(context.WithoutCancel(ctx)) // turns go on to their next commit
	taking.Wait()
	return nil
}

// keep renews leases and hears what is asked of turns until ctx ends.
func (l *Lanes) keep(ctx context.Context) {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	renewed := l.cfg.Now()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
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
}

// takeLeft takes up what others left, and ends what is waited for in vain, until
// ctx ends.
func (l *Lanes) takeLeft(ctx context.Context) {
	tick := time.NewTicker(takeTime)
	defer tick.Stop()
	if l.cfg.Recover {
		l.TakeUp(ctx)
	}
	swept := l.cfg.Now()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			if !l.stays() {
				continue
			}
			l.TakeUp(ctx)
			if now := l.cfg.Now(); now.Sub(swept) >= sweepTime {
				swept = now
				l.Sweep(ctx)
			}
		}
	}
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
	l.alarms.Stop()
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

// Settle waits until no turn runs here, or ctx ends. A process that ends soon
// calls it before it ends Run, so that what it took up is not cut off. It reports
// whether none ran at once.
func (l *Lanes) Settle(ctx context.Context) (rested bool) {
	l.mu.Lock()
	if l.serving == 0 {
		l.mu.Unlock()
		return true
	}
	if l.rested == nil {
		l.rested = make(chan struct{})
	}
	idle := l.rested
	l.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	return false
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

// renew extends the leases of the lanes that are served. A lane that another
// node took over meanwhile has its run ended: it could not write any more
// anyway.
func (l *Lanes) renew(ctx context.Context, held []*holding) {
	var lost []*holding
	err := l.store.Write(ctx, "lane.renew", func(w *store.Write) error {
		lost = nil
		for _, h := range held {
			kept, err := w.RenewLane(ctx, l.renewed(h.lease))
			if err != nil {
				return err
			}
			if !kept {
				lost = append(lost, h)
			}
		}
		return nil
	})
	if err != nil {
		l.cfg.Log.Warn("leases not renewed", "error", err)
		return
	}
	for _, h := range lost {
		if l.holds(h) {
			h.cancel(store.ErrLaneLost)
		}
	}
}

// renewed returns a lease that lasts from now on.
func (l *Lanes) renewed(lease chela.Lease) chela.Lease {
	lease.ExpiresAt = l.cfg.Now().Add(leaseTime)
	return lease
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
	var stopping []chela.TurnID
	var waiting []chela.SessionKey
	err := l.store.Read(ctx, func(r *store.Read) (err error) {
		if stopping, err = r.StoppingTurns(ctx); err != nil {
			return err
		}
		waiting, err = r.WaitingSessions(ctx)
		return err
	})
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("lanes not looked at", "error", err)
	}
	slices.Sort(stopping)
	slices.Sort(waiting)
	for _, h := range held {
		if _, stop := slices.BinarySearch(stopping, h.turn); stop {
			h.control.Stop()
		}
		if _, more := slices.BinarySearch(waiting, h.lease.Session); more {
			h.control.Steer() // the run looks whether a message wants to enter the turn
		}
	}
}

// TakeUp says that this process stays, and takes every lane of the home that
// has something to run and nobody who runs it, now and from time to time. What
// fails is logged: the lane stays for the next look.
func (l *Lanes) TakeUp(ctx context.Context) {
	l.mu.Lock()
	l.staying = true
	l.mu.Unlock()
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

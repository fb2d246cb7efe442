package work

import (
	"cmp"
	"context"
	"time"

	"chela"
)

const (
	lookTime = time.Second // poll interval for rows of other processes

	// Claims of a dead machine are due again within leaseTime and lookTime, 7
	// s. A live owner loses a claim only if two renewals fail or if it is held
	// up for 4 s.
	leaseTime = 6 * time.Second
	renewTime = 2 * time.Second

	forgetTime = time.Hour      // between cleanups of failed work
	failedTime = 24 * time.Hour // retention of failed work
)

// A run is the state of an engine during Run. It belongs to the goroutine of
// Run.
type run struct {
	*Engine
	kinds    map[string]Kind
	performs map[claimed]*attempt
	busy     map[string]int // attempts by kind
	ended    chan *attempt

	renewed   time.Time // last renewal of the claims
	forgotten time.Time // last cleanup of failed work
	broken    bool      // the last poll failed and was logged
	strange   map[string]bool
}

// Run performs work of the given kinds until ctx is done. It then stops
// claiming, cancels the handlers, releases the work that they did not finish
// without counting the attempt, and returns when all handlers have returned. It
// returns Internal for a duplicate or incomplete kind. It must be called only
// once.
func (e *Engine) Run(ctx context.Context, kinds ...Kind) error {
	r := &run{
		Engine: e, kinds: map[string]Kind{}, performs: map[claimed]*attempt{}, busy: map[string]int{}, ended: make(chan *attempt),
		renewed: e.cfg.Now(), strange: map[string]bool{},
	}
	defer e.end()
	for _, k := range kinds {
		if k.Name == "" || k.Handle == nil || r.kinds[k.Name].Name != "" {
			return chela.Ef(chela.Internal, "kind of work %q is incomplete or defined twice", k.Name)
		}
		k.Attempts, k.Timeout = cmp.Or(k.Attempts, DefaultAttempts), cmp.Or(k.Timeout, DefaultTimeout)
		k.Parallel = cmp.Or(k.Parallel, DefaultParallel)
		r.kinds[k.Name] = k
	}
	r.loop(ctx)
	r.drain(ctx)
	return nil
}

// end releases all Settle calls after the engine stopped.
func (e *Engine) end() {
	e.mu.Lock()
	e.over = true
	e.mu.Unlock()
	e.settle(e.asking())
}

func (r *run) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case a := <-r.ended:
			r.forget(a)
			r.forgetEnded()
		case <-r.wake:
		case <-timer.C:
		}
		timer.Reset(r.look(ctx))
	}
}

// drain waits for running handlers while it keeps renewing their claims.
func (r *run) drain(ctx context.Context) {
	tick := time.NewTicker(renewTime)
	defer tick.Stop()
	for len(r.performs) > 0 {
		select {
		case a := <-r.ended:
			r.forget(a)
		case <-tick.C:
			r.keep(ctx)
		}
	}
	if r.renewed.IsZero() {
		r.keep(ctx) // releases claims that were committed without confirmation
	}
}

// keep renews claims during shutdown, so that no other process begins work that
// is still running here.
func (r *run) keep(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if err := r.renew(ctx); err != nil {
		r.complain(ctx, err)
	}
}

// forget removes a finished attempt.
func (r *run) forget(a *attempt) {
	delete(r.performs, claimOf(a.work))
	r.busy[a.work.Kind]--
	if a.unsure {
		r.renewed = time.Time{} // the next poll checks its row
	}
}

// forgetEnded removes all finished attempts, so that one poll can fill all
// their slots.
func (r *run) forgetEnded() {
	for {
		select {
		case a := <-r.ended:
			r.forget(a)
		default:
			return
		}
	}
}

// look performs one poll and returns the delay until the next one.
func (r *run) look(ctx context.Context) time.Duration {
	asking := r.asking()
	now := r.cfg.Now()
	seen, err := r.see(ctx)
	if err != nil {
		return r.complain(ctx, err)
	}
	freed, err := r.tend(ctx, now, seen.owners)
	if err != nil {
		return r.complain(ctx, err)
	}
	begun, err := r.claim(ctx, seen.open(r, now))
	if err != nil {
		return r.complain(ctx, err)
	}
	r.broken = false
	if freed || begun > 0 {
		return 0 // there may be more
	}
	next, due := seen.next(now)
	if !due && len(r.performs) == 0 {
		r.settle(asking)
	}
	return next
}

// complain logs the first of several consecutive errors, except for
// cancellation, and returns the delay until the next poll.
func (r *run) complain(ctx context.Context, err error) time.Duration {
	if !r.broken && ctx.Err() == nil {
		r.cfg.Log.Warn("poll for work failed", "error", err)
	}
	r.broken = true
	return lookTime
}

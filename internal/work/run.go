package work

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"chela"
)

const (
	lookTime = time.Second // between looks for what other processes added

	// What a machine had claimed that died is due again within leaseTime and
	// lookTime, 7 s. Its owner has to fail twice to renew a claim, or to be held up
	// for 4 s, before it loses one.
	leaseTime = 6 * time.Second
	renewTime = 2 * time.Second

	forgetTime = time.Hour      // between looks for what failed long ago
	failedTime = 24 * time.Hour // for which work that failed is kept
)

// A run is what an engine keeps while Run runs. It belongs to the goroutine of
// Run.
type run struct {
	*Engine
	kinds    map[string]Kind
	performs map[claimed]*attempt
	busy     map[string]int // attempts of each kind
	ended    chan *attempt

	renewed   time.Time // when claims were renewed last
	forgotten time.Time // when failed work was forgotten last
	broken    bool      // the last look failed, and that was logged
	strange   map[string]bool
}

// Run performs work of the given kinds until ctx ends. Then it claims nothing
// more, ends the context of each handler, gives back what these did not finish
// without counting the attempt, and returns when all have returned. Two kinds of
// one name, or one that cannot be performed, are an Internal error. It is called
// once.
func (e *Engine) Run(ctx context.Context, kinds ...Kind) error {
	r := &run{
		Engine: e, kinds: map[string]Kind{}, performs: map[claimed]*attempt{}, busy: map[string]int{}, ended: make(chan *attempt),
		renewed: e.cfg.Now(), strange: map[string]bool{},
	}
	defer e.end()
	for _, k := range kinds {
		if k.Name == "" || k.Handle == nil || r.kinds[k.Name].Name != "" {
			return chela.E(chela.Internal, fmt.Sprintf("kind of work %q cannot be performed, or is there twice", k.Name))
		}
		k.Attempts, k.Timeout = cmp.Or(k.Attempts, DefaultAttempts), cmp.Or(k.Timeout, DefaultTimeout)
		k.Parallel = cmp.Or(k.Parallel, DefaultParallel)
		r.kinds[k.Name] = k
	}
	r.loop(ctx)
	r.drain(ctx)
	return nil
}

// end lets go who waits for an engine that performs nothing any more.
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

// drain waits for what is performed, whose claims it keeps meanwhile.
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
		r.keep(ctx) // gives back what it may have claimed without being told
	}
}

// keep renews claims while the process ends, so that nobody else begins what has
// not ended here.
func (r *run) keep(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if err := r.renew(ctx); err != nil {
		r.complain(ctx, err)
	}
}

// forget takes an attempt that has ended out of the books.
func (r *run) forget(a *attempt) {
	delete(r.performs, claimOf(a.work))
	r.busy[a.work.Kind]--
	if a.unsure {
		r.renewed = time.Time{} // the next look sees what became of it
	}
}

// forgetEnded forgets all that has ended meanwhile, so that one look fills all the
// room that they leave.
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

// look performs what is due and returns when to look again.
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

// complain logs the first of several failures, unless that is its own end, and
// returns when to look again.
func (r *run) complain(ctx context.Context, err error) time.Duration {
	if !r.broken && ctx.Err() == nil {
		r.cfg.Log.Warn("work not looked for", "error", err)
	}
	r.broken = true
	return lookTime
}

package work

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"chela"
	"chela/internal/store"
)

// Forever as [Kind.Attempts] never gives up.
const Forever = -1

// What a kind has that says nothing else.
const (
	DefaultAttempts = 10
	DefaultTimeout  = 10 * time.Minute
	DefaultParallel = 1
)

// A Kind says how work of one name is performed.
type Kind struct {
	Name     string
	Attempts int           // before it fails; 0 means DefaultAttempts
	Timeout  time.Duration // of an attempt; 0 means DefaultTimeout
	Parallel int           // handlers at once in this process; 0 means DefaultParallel
	Brief    bool          // also performed by a process that ends soon, whoever added it

	// Handle performs a piece of work. It may be called again after it did, and
	// by several goroutines at once for several pieces. It returns soon after
	// ctx ends: because its time is up, the claim is lost or the process ends.
	Handle func(ctx context.Context, k chela.Work) (Outcome, error)

	// Failed, if set, takes part in the transaction in which work fails; k.Error
	// says why. If it fails itself, that is logged and the work has failed
	// nevertheless.
	Failed func(ctx context.Context, w *store.Write, k chela.Work) error
}

// An Outcome says what becomes of work whose handler did not fail. The zero value
// says that it is done.
type Outcome struct {
	// Again, if set, makes the row due once more then, with no attempts counted.
	Again time.Time

	// Written says that the handler moved the row itself, with
	// [store.Write.MoveWork] in the transaction that has the effect: then that
	// happens exactly once.
	Written bool
}

// Config has what an engine needs. Everything is required, but for Dead.
type Config struct {
	Node   chela.NodeID // this process
	IDs    *chela.IDs
	Now    func() time.Time
	Random func() float64 // from 0 to below 1; called by several goroutines at once
	Log    *slog.Logger

	// Dead reports whether another process is gone for certain.
	Dead func(chela.NodeID) bool
}

// An Engine adds work and performs it. It may be used by several goroutines at
// once.
type Engine struct {
	store *store.Store
	cfg   Config
	wake  chan struct{} // has room for one

	mu       sync.Mutex
	stays    bool                // guarded by mu, like all below
	leaves   bool                // what is added is for others
	own      map[place]time.Time // what this process added or set, and when; nil once it stays
	settling []chan struct{}     // closed when nothing is due
	over     bool                // Run has returned
}

// A place names unfinished work.
type place struct{ kind, key string }

// New returns an engine that performs nothing until Run is called.
func New(s *store.Store, cfg Config) *Engine {
	if cfg.Dead == nil {
		cfg.Dead = func(chela.NodeID) bool { return false }
	}
	return &Engine{store: s, cfg: cfg, wake: make(chan struct{}, 1), own: map[place]time.Time{}}
}

// Add adds k within a transaction, due at DueAt or at once. Of k, Kind is required
// and Args are valid JSON or nil; a Key is made up where there is none, the rest
// is filled in. It reports whether k was added: while unfinished work of its kind
// and key exists, nothing happens, even if that runs and has read what was
// before. Whoever changed what a handler reads uses Set.
//
// After the commit Nudge lets this process begin at once.
func (e *Engine) Add(ctx context.Context, w *store.Write, k chela.Work) (bool, error) {
	k = e.fill(k)
	added, err := w.AddWork(ctx, k)
	if added {
		e.note(k)
	}
	return added, err
}

// Set is Add, but unfinished work of the kind and key of k gets its time and
// arguments instead. If that runs it is due once more afterwards, then or when
// its outcome says, whichever is earlier: a handler that must not run early looks
// at the clock and says Again.
func (e *Engine) Set(ctx context.Context, w *store.Write, k chela.Work) error {
	k = e.fill(k)
	e.note(k)
	return w.SetWork(ctx, k)
}

// Drop forgets unfinished work within a transaction, if there is some. A handler
// that runs is not stopped, but not called again.
func (e *Engine) Drop(ctx context.Context, w *store.Write, kind, key string) error {
	return w.DropWork(ctx, kind, key)
}

func (e *Engine) fill(k chela.Work) chela.Work {
	now := e.cfg.Now()
	k.ID, k.State, k.CreatedAt = e.cfg.IDs.Work(), chela.WorkDue, now
	if k.Key == "" {
		k.Key = string(k.ID)
	}
	if k.DueAt.IsZero() {
		k.DueAt = now
	}
	return k
}

// note remembers what a process that ends soon has to perform.
func (e *Engine) note(k chela.Work) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.stays && !e.leaves {
		e.own[place{k.Kind, k.Key}] = k.CreatedAt
	}
}

// Nudge has the engine look at once for what is due. It is called after the
// commit of what was added.
func (e *Engine) Nudge() {
	select {
	case e.wake <- struct{}{}:
	default: // it will look anyhow
	}
}

// Stay says that this process will be here for a while: it performs work of
// whatever kind, whoever added it.
func (e *Engine) Stay() {
	e.mu.Lock()
	e.stays, e.own = true, nil
	e.mu.Unlock()
	e.Nudge()
}

// Leave says that this process performs nothing of what it adds from now on, but for
// kinds that are brief: it waits for a process that stays.
func (e *Engine) Leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaves = true
}

// Settle waits until nothing runs here and nothing that this process performs is
// due, or until ctx or Run ends. What waits for a later attempt is left.
func (e *Engine) Settle(ctx context.Context) {
	settled := make(chan struct{})
	e.mu.Lock()
	over := e.over
	e.settling = append(e.settling, settled)
	e.mu.Unlock()
	if over {
		return
	}
	e.Nudge()
	select {
	case <-settled:
	case <-ctx.Done():
	}
}

// asking returns how many wait until nothing is due.
func (e *Engine) asking() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.settling)
}

// settle lets the first n of those who wait go on.
func (e *Engine) settle(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, settled := range e.settling[:n] {
		close(settled)
	}
	e.settling = e.settling[n:]
}

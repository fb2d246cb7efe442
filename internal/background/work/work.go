package work

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"chela"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// Forever as [Kind.Attempts] retries without limit.
const Forever = -1

// Defaults of a kind.
const (
	DefaultAttempts = 10
	DefaultTimeout  = 10 * time.Minute
	DefaultParallel = 1
)

// A Kind describes how to perform work of one name.
type Kind struct {
	Name     string
	Attempts int           // most attempts; 0 means DefaultAttempts
	Timeout  time.Duration // per attempt; 0 means DefaultTimeout
	Parallel int           // handlers at once in this process; 0 means DefaultParallel
	Brief    bool          // short-lived processes perform it too, including work of other processes

	// Handle performs a piece of work. It must be idempotent, and is called
	// concurrently for different pieces of work. It returns soon after ctx is
	// done: its timeout expired, its claim was lost, or the process shuts down.
	Handle func(ctx context.Context, k chela.Work) (Outcome, error)

	// Failed, if set, is called in the transaction that fails the work; k.Error
	// has the reason. If it returns an error, the error is logged and the work
	// still fails.
	Failed func(ctx context.Context, w *store.Write, k chela.Work) error
}

// Args encodes the arguments of work; their types always encode.
func Args(args any) json.RawMessage {
	text, _ := json.Marshal(args)
	return text
}

// ArgsOf decodes the arguments of work. It returns Invalid if they cannot be read.
func ArgsOf[A any](k chela.Work) (args A, err error) {
	if err := json.Unmarshal(k.Args, &args); err != nil {
		return args, chela.E(chela.Invalid, "work "+k.Kind+" cannot be read").Because(err)
	}
	return args, nil
}

// An Outcome is the result of a handler without an error. The zero value means
// done.
type Outcome struct {
	// Again, if set, makes the row due again at that time, with the attempts
	// reset.
	Again time.Time

	// Written tells that the handler has moved the row itself, with
	// [store.Write.MoveWork] in the transaction of its effect, which then
	// happens exactly once.
	Written bool
}

// Config holds the dependencies of an engine. All fields but Dead are required.
type Config struct {
	local.Process

	Random func() float64 // in [0, 1); called concurrently
}

// An Engine adds work and performs it. It is safe for concurrent use.
type Engine struct {
	store *store.Store
	cfg   Config
	wake  chan struct{} // buffered, one slot

	mu       sync.Mutex
	stays    bool                // guarded by mu, like all fields below
	leaves   bool                // added work is left to other processes
	own      map[place]time.Time // work added or set by this process, and its due times; nil once it stays
	settling []chan struct{}     // closed when nothing is due
	over     bool                // Run has returned
}

// A place identifies unfinished work.
type place struct{ kind, key string }

// New returns an engine; it performs no work until Run is called.
func New(s *store.Store, cfg Config) *Engine {
	return &Engine{store: s, cfg: cfg, wake: make(chan struct{}, 1), own: map[place]time.Time{}}
}

// Add adds k within a transaction, due at DueAt or at once. Kind is required,
// Args must be valid JSON or nil, an empty Key gets a generated one, and the
// other fields are filled in. It reports whether k was added: it does nothing
// if unfinished work of the same kind and key exists, even if that is running
// and has read older state. A caller that changed the handler's input uses Set.
//
// Call Nudge after the commit to begin at once.
func (e *Engine) Add(ctx context.Context, w *store.Write, k chela.Work) (bool, error) {
	k = e.fill(k)
	added, err := w.AddWork(ctx, k)
	if added {
		e.note(k)
	}
	return added, err
}

// Set is Add, but it replaces the time and arguments of unfinished work of the
// same kind and key. Work that is running becomes due once more afterwards, at
// that time or at the time of its outcome, whichever is earlier; a handler that
// must not run early checks the clock and returns Again.
func (e *Engine) Set(ctx context.Context, w *store.Write, k chela.Work) error {
	k = e.fill(k)
	e.note(k)
	return w.SetWork(ctx, k)
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

// note records work that a short-lived process has to perform.
func (e *Engine) note(k chela.Work) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.stays && !e.leaves {
		e.own[place{k.Kind, k.Key}] = k.CreatedAt
	}
}

// Nudge makes the engine poll at once. Call it after the commit that added
// work.
func (e *Engine) Nudge() {
	select {
	case e.wake <- struct{}{}:
	default: // a poll is already pending
	}
}

// Stay marks this process as long-lived: it performs work of any kind and of
// any process.
func (e *Engine) Stay() {
	e.mu.Lock()
	e.stays, e.own = true, nil
	e.mu.Unlock()
	e.Nudge()
}

// Leave makes this process leave the work that it adds from now on to
// long-lived processes, except for kinds that are Brief.
func (e *Engine) Leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaves = true
}

// Settle waits until no handler runs and no work for this process is due, or
// until ctx is done or Run returns. It does not wait for retries.
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

// asking returns the number of Settle calls waiting.
func (e *Engine) asking() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.settling)
}

// settle releases the first n Settle calls.
func (e *Engine) settle(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, settled := range e.settling[:n] {
		close(settled)
	}
	e.settling = e.settling[n:]
}

package cost

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"chela"
	"chela/internal/store"
)

// Config is what a ledger needs. All fields but Limits are required.
type Config struct {
	Node   chela.NodeID
	IDs    *chela.IDs
	Now    func() time.Time
	Zone   *time.Location // says what day it is
	Log    *slog.Logger
	Emit   func(chela.Event)
	Limits Limits

	// Price returns what a model, as provider/model, takes: a default where that
	// is not known.
	Price func(model string) (price chela.Price, known bool)

	// MaxOutput returns how many tokens a model says at most, 0 if that is not
	// known.
	MaxOutput func(model string) int

	// Thinks reports whether a model may reason without showing what.
	Thinks func(model string) bool

	// Count returns how many tokens the prompt of a request has, for requests of
	// which nobody counted them.
	Count func(*chela.Request) int

	// Wait returns after d, or earlier with the error of ctx.
	Wait func(ctx context.Context, d time.Duration) error

	// Dead reports whether a node is dead for certain.
	Dead func(chela.NodeID) bool
}

// A Ledger says what model calls cost, and refuses those that a limit has not
// enough left for. It may be used by several goroutines at once.
type Ledger struct {
	cfg   Config
	store *store.Store

	spent atomic.Pointer[spentUp] // a limit of the home, until it begins anew; nil for none

	mu      sync.Mutex
	counted map[place]bool         // guarded by mu; budgets whose rows this process has counted
	open    map[chela.UsageID]bool // guarded by mu; reservations without a turn whose calls are under way
}

// A spentUp limit needs no look at the database to refuse.
type spentUp struct {
	until time.Time
	err   error
}

// A place names a budget.
type place struct {
	limit chela.Limit
	key   string
	since int64
}

func placeOf(b chela.Budget) place { return place{b.Limit, b.Key, b.Since.UnixMicro()} }

// maxCounted is how many budgets a process remembers to have counted.
const maxCounted = 10_000

// New returns a ledger over a store.
func New(s *store.Store, cfg Config) *Ledger {
	return &Ledger{cfg: cfg, store: s, counted: map[place]bool{}, open: map[chela.UsageID]bool{}}
}

// usage returns a new row of the ledger.
func (l *Ledger) usage(p chela.Payer, model string) chela.Usage {
	p.Purpose = cmp.Or(p.Purpose, "model")
	return chela.Usage{ID: l.cfg.IDs.Usage(), Payer: p, Model: model, CreatedAt: l.cfg.Now()}
}

// prompt returns how many tokens the prompt of a request has.
func (l *Ledger) prompt(req *chela.Request) int {
	if req.Tokens > 0 {
		return req.Tokens
	}
	return l.cfg.Count(req)
}

// look returns budgets as they are, counted out of the ledger.
func (l *Ledger) look(ctx context.Context, budgets []chela.Budget) (now []chela.Budget, err error) {
	if len(budgets) == 0 {
		return nil, nil
	}
	err = l.store.Read(ctx, func(r *store.Read) error {
		now = nil
		for _, b := range budgets {
			b, err := r.BudgetOf(ctx, b)
			if err != nil {
				return err
			}
			now = append(now, b)
		}
		return nil
	})
	return now, err
}

// Budgets returns the limits of the home, and that of a session unless key is
// empty, and what is left of each.
func (l *Ledger) Budgets(ctx context.Context, key chela.SessionKey) ([]chela.Budget, error) {
	return l.look(ctx, l.cfg.Limits.budgets(chela.Payer{Session: key}, l.cfg.Now(), l.cfg.Zone))
}

// begun remembers that a call without a turn is under way.
func (l *Ledger) begun(id chela.UsageID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[id] = true
}

// ended forgets a call that is not under way any more.
func (l *Ledger) ended(id chela.UsageID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, id)
}

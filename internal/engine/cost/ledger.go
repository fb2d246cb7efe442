package cost

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"chela"
	"chela/internal/platform/local"
	"chela/internal/store"
)

// Config holds the dependencies of a ledger. All fields but Limits are
// required.
type Config struct {
	local.Process

	Zone   *time.Location // time zone of the day limits
	Limits Limits
	Models models

	// Count estimates the prompt size of a request without Tokens.
	Count func(*chela.Request) int

	// Wait returns after d, or earlier with the error of ctx.
	Wait func(ctx context.Context, d time.Duration) error
}

// models know the properties of models, named provider/model.
type models interface {
	// Price returns the price of a model. An unknown price is an assumed one, or
	// zero.
	Price(model string) (price chela.Price, known bool)
	// MaxOutput returns the output limit of a model, 0 if it is not known.
	MaxOutput(model string) int
	// Thinks reports whether a model may reason without showing the reasoning.
	Thinks(model string) bool
}

// A Ledger prices model calls and refuses calls that exceed a limit. It is safe
// for concurrent use.
type Ledger struct {
	cfg   Config
	store *store.Store

	spent atomic.Pointer[spentUp] // exhausted limit of the home, until its reset; nil for none

	open sync.Map // reservations of calls without a turn in flight, by their chela.UsageID

	mu      sync.Mutex
	counted map[place]bool // guarded by mu; budgets whose rows this process has recomputed
}

// A spentUp caches the refusal of an exhausted limit, which then needs no
// query.
type spentUp struct {
	until time.Time
	err   error
}

// A place identifies a budget.
type place struct {
	limit chela.Limit
	key   string
	since int64
}

func placeOf(b chela.Budget) place { return place{b.Limit, b.Key, b.Since.UnixMicro()} }

// maxCounted is the capacity of the cache of recomputed budgets.
const maxCounted = 10_000

// New returns a ledger over a store.
func New(s *store.Store, cfg Config) *Ledger {
	return &Ledger{cfg: cfg, store: s, counted: map[place]bool{}}
}

// usage returns a new row of the ledger.
func (l *Ledger) usage(p chela.Payer, model string) chela.Usage {
	p.Purpose = cmp.Or(p.Purpose, "model")
	return chela.Usage{ID: l.cfg.IDs.Usage(), Payer: p, Model: model, CreatedAt: l.cfg.Now()}
}

// prompt returns the prompt size of a request in tokens.
func (l *Ledger) prompt(req *chela.Request) int {
	if req.Tokens > 0 {
		return req.Tokens
	}
	return l.cfg.Count(req)
}

// look returns budgets with their current amounts, summed over the ledger.
func (l *Ledger) look(ctx context.Context, budgets []chela.Budget) (now []chela.Budget, err error) {
	if len(budgets) == 0 {
		return nil, nil
	}
	err = l.store.Read(ctx, func(r *store.Read) error {
		now = make([]chela.Budget, len(budgets))
		for i, b := range budgets {
			if now[i], err = r.BudgetOf(ctx, b); err != nil {
				return err
			}
		}
		return nil
	})
	return now, err
}

// Budgets returns the limits of the home, and the limit of a session unless key
// is empty, with their current use.
func (l *Ledger) Budgets(ctx context.Context, key chela.SessionKey) ([]chela.Budget, error) {
	return l.look(ctx, l.budgets(chela.Payer{Session: key}, l.cfg.Now(), false))
}

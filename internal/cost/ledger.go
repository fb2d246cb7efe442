package cost

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
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

// maxTries is how often a reservation is tried, each time with fewer tokens of
// output or with more left.
const maxTries = 4

// reserve adds a row for a call to the ledger and takes what it may cost out of
// the budgets that it falls under. It returns how many tokens the answer may have;
// 0 where no limit of money says.
func (l *Ledger) reserve(ctx context.Context, u *chela.Usage, q ask) (output int, err error) {
	budgets := l.cfg.Limits.budgets(u.Payer, u.CreatedAt, l.cfg.Zone)
	u.Cost = q.most(q.prompt, q.output)
	if u.Cost == 0 { // money is no matter
		budgets = slices.DeleteFunc(budgets, func(b chela.Budget) bool { return b.Limit != chela.LimitActions })
	}
	u.State, u.Node = chela.UsageReserved, l.cfg.Node
	output = q.output
	if !slices.ContainsFunc(budgets, func(b chela.Budget) bool { return b.Limit != chela.LimitActions }) {
		output = 0
	}
	anew := false
	for try := 1; ; try++ {
		err := l.claim(ctx, *u, budgets, anew)
		limit := limitOf(err)
		switch {
		case err == nil:
			return output, nil
		case limit != "" && try == maxTries:
			return 0, l.tooFast(ctx, limit, u.Cost, budgets)
		case limit != "":
			l.Tend(ctx)
			if output, err = l.fitting(ctx, u, q, budgets); err != nil {
				return 0, err
			}
			anew = true
		case chela.KindOf(err) == chela.Conflict && u.Turn != "" && try < maxTries:
			if err := l.giveUp(ctx, u.Turn); err != nil {
				return 0, err
			}
		default:
			return 0, err
		}
	}
}

// tooFast is the refusal of a call to which others were faster again and again:
// whatever was left, they took it.
func (l *Ledger) tooFast(ctx context.Context, limit chela.Limit, need chela.MicroUSD, budgets []chela.Budget) error {
	now, err := l.look(ctx, slices.DeleteFunc(slices.Clone(budgets), func(b chela.Budget) bool { return b.Limit != limit }))
	if err != nil {
		return err
	}
	return refusal(now[0], need, l.cfg.Zone)
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

// isSpent returns the refusal of a call if a limit of the home is known to be
// spent.
func (l *Ledger) isSpent(free bool) error {
	s := l.spent.Load()
	if s == nil || !l.cfg.Now().Before(s.until) || free && limitOf(s.err) != chela.LimitActions {
		return nil
	}
	return s.err
}

// limitOf returns the limit that an error names, if any.
func limitOf(err error) chela.Limit {
	if e, ok := errors.AsType[*chela.Error](err); ok {
		return e.Limit
	}
	return ""
}

// claim is the transaction of a reservation.
func (l *Ledger) claim(ctx context.Context, u chela.Usage, budgets []chela.Budget, anew bool) error {
	claims := make([]store.Claim, 0, len(budgets))
	l.mu.Lock()
	for _, b := range budgets {
		c := store.Claim{Budget: b, Amount: int64(u.Cost), Warn: (b.Most*warnAt + 99) / 100, Anew: anew || !l.counted[placeOf(b)]}
		if b.Limit == chela.LimitActions {
			c.Amount = 1
		}
		claims = append(claims, c)
	}
	l.mu.Unlock()
	var warn []chela.Budget
	err := l.store.Write(ctx, "usage.reserve", func(w *store.Write) error {
		warn = nil
		return w.Reserve(ctx, u, claims, func(c store.Claim) { warn = append(warn, c.Budget) })
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	if len(l.counted) > maxCounted {
		clear(l.counted)
	}
	for _, b := range budgets {
		l.counted[placeOf(b)] = true
	}
	l.mu.Unlock()
	for _, b := range warn {
		text := warning(b, l.cfg.Zone)
		l.cfg.Log.Warn("limit almost reached", "limit", b.Limit, "key", b.Key, "spent", b.Spent, "most", b.Most)
		l.cfg.Emit(chela.Event{Kind: chela.EventNotice, Session: u.Session, Turn: u.Turn, Text: text, At: u.CreatedAt})
	}
	return nil
}

// fitting looks at the budgets of a call that was refused. It returns how many
// tokens of output fit into all of them, or the refusal.
func (l *Ledger) fitting(ctx context.Context, u *chela.Usage, q ask, budgets []chela.Budget) (output int, err error) {
	now, err := l.look(ctx, budgets)
	if err != nil {
		return 0, err
	}
	output = q.output
	for _, b := range now {
		fits := 0
		switch {
		case b.Limit != chela.LimitActions:
			fits = q.affordable(q.prompt, output, chela.MicroUSD(b.Left()))
		case b.Left() > 0:
			fits = output
		}
		if fits < q.least {
			refused := refusal(b, q.most(q.prompt, q.least), l.cfg.Zone)
			if b.Spent >= b.Most && b.Key == "" {
				l.spent.Store(&spentUp{until: b.Resets, err: refused})
			}
			return 0, refused
		}
		output = fits
	}
	u.Cost = q.most(q.prompt, output)
	return output, nil
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

// Budgets returns the limits that apply to a session, or to the home alone if
// key is empty, and what is left of each.
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

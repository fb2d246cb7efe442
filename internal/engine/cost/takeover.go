package cost

import (
	"context"
	"iter"

	"chela"
	"chela/internal/store"
)

// TakeOver returns a provider that accounts for the call of a dead process
// before it repeats the request (Request.Again). The reservation of that
// process becomes lost, at its maximum possible cost. Without a reservation
// nothing is charged if a limit applies, because such a call is always reserved
// first; otherwise an estimate is charged. Models are the candidates that may
// have been asked. It belongs outermost, outside all retries.
func (l *Ledger) TakeOver(p chela.Provider, models ...string) chela.Provider {
	return takeover{ledger: l, inner: p, models: models}
}

type takeover struct {
	ledger *Ledger
	inner  chela.Provider
	models []string
}

// Stream implements chela.Provider.
func (t takeover) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	if !req.Again {
		return t.inner.Stream(ctx, req)
	}
	return func(yield func(chela.Chunk, error) bool) {
		if err := t.lose(ctx, req); err != nil {
			yield(chela.Chunk{}, later(ctx, err))
			return
		}
		once := *req
		once.Again = false
		t.inner.Stream(ctx, &once)(yield)
	}
}

// lose accounts for the call of the dead process.
func (t takeover) lose(ctx context.Context, req *chela.Request) error {
	reserved, err := store.Find(ctx, t.ledger.store, func(r *store.Read) ([]chela.Usage, error) { return reservedFor(ctx, r, req.Payer) })
	if err != nil {
		return err
	}
	if len(reserved) > 0 { // Tend may have been faster
		return t.ledger.giveUp(ctx, req.Payer.Turn)
	}
	u := t.ledger.usage(req.Payer, "")
	if len(t.ledger.budgets(u.Payer, u.CreatedAt, false)) > 0 {
		return nil // it died before it reserved, and so before it asked
	}
	u.State, u.Guessed = chela.UsageLost, true
	u.Tokens = chela.TokenUsage{Input: int64(t.ledger.prompt(req))}
	for _, model := range t.models { // the most expensive
		if price, _ := t.ledger.cfg.Models.Price(model); u.Model == "" || price.Cost(u.Tokens) > u.Cost {
			u.Model, u.Cost = model, price.Cost(u.Tokens)
		}
	}
	if u.Cost == 0 {
		return nil
	}
	return t.ledger.record(ctx, u)
}

// reservedFor returns the rows of a turn's step that are reserved, or were
// until they were marked as lost.
func reservedFor(ctx context.Context, r *store.Read, p chela.Payer) (rows []chela.Usage, err error) {
	if p.Turn == "" {
		return nil, nil
	}
	turn, err := r.Turn(ctx, p.Turn)
	if err != nil {
		return nil, err
	}
	all, err := r.TurnUsage(ctx, turn)
	for _, u := range all {
		given := u.State == chela.UsageReserved || u.State == chela.UsageLost
		if given && u.Node != "" && u.Step == p.Step && u.Purpose == p.Purpose {
			rows = append(rows, u)
		}
	}
	return rows, err
}

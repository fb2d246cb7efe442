package cost

import (
	"context"
	"iter"

	"chela"
	"chela/internal/store"
)

// TakeOver returns a provider that sees to what a dead process had asked, before it
// asks Again: what that process reserved is lost, at the most that it can have
// cost; where it reserved nothing, a guess of it is added. Models are those that
// may have been asked. It belongs around all that asks again.
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
		for chunk, err := range t.inner.Stream(ctx, &once) {
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// lose puts what the dead process asked into the ledger.
func (t takeover) lose(ctx context.Context, req *chela.Request) error {
	reserved, err := store.Find(ctx, t.ledger.store, func(r *store.Read) ([]chela.Usage, error) { return reservedFor(ctx, r, req.Payer) })
	if err != nil {
		return err
	}
	if len(reserved) > 0 { // Tend may have been faster
		return t.ledger.giveUp(ctx, req.Payer.Turn)
	}
	u := t.ledger.usage(req.Payer, "")
	u.State, u.Guessed = chela.UsageLost, true
	u.Tokens = chela.TokenUsage{Input: int64(t.ledger.prompt(req))}
	for _, model := range t.models { // the dearest
		if price, _ := t.ledger.cfg.Price(model); u.Model == "" || price.Cost(u.Tokens) > u.Cost {
			u.Model, u.Cost = model, price.Cost(u.Tokens)
		}
	}
	if u.Cost == 0 {
		return nil
	}
	return t.ledger.charge(ctx, u)
}

// reservedFor returns the rows of a step of a turn that are reserved, or were until
// they were given up as lost.
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

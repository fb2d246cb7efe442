package cost

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"chela"
)

// Meter returns a provider of one model, named provider/model, whose requests
// are recorded in the ledger and subject to the limits. It belongs innermost,
// inside all retries: each request is one row. A request refused by a limit
// fails with an Exhausted error whose Limit names it; as that is not a
// *ProviderError, it is not retried.
//
// A request is charged to its Payer. If the payer has a turn, the turn appends
// the row, using the Charge of the Finish; otherwise the ledger does.
func (l *Ledger) Meter(p chela.Provider, model string) chela.Provider {
	return &metered{
		ledger: l, inner: p, model: model,
		output: cmp.Or(l.cfg.Models.MaxOutput(model), anyOutput), thinks: l.cfg.Models.Thinks(model),
	}
}

type metered struct {
	ledger *Ledger
	inner  chela.Provider
	model  string
	output int  // default output limit of an answer
	thinks bool // the model may reason invisibly
}

// An ask is the estimate of a call before it is made, in tokens.
type ask struct {
	quote
	prompt int
	output int // maximum
	least  int // minimum to be worth a call
}

// Stream implements chela.Provider.
func (m *metered) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		c := call{metered: m, req: req}
		c.price, c.known = m.ledger.cfg.Models.Price(m.model) // its provider may have told it since the last call
		defer func() { c.left(ctx) }()
		if err := c.begin(ctx); err != nil {
			yield(chela.Chunk{}, later(ctx, err))
			return
		}
		for chunk, err := range m.inner.Stream(ctx, c.req) {
			switch {
			case err != nil:
				c.failed(ctx, err)
			case chunk.Finish != nil:
				c.finished(ctx, chunk.Finish)
			default:
				c.arrived += len(chunk.Text) + len(chunk.Thinking) + chunk.Unseen
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// A call is one request to a model, from its reservation to its end.
type call struct {
	*metered
	quote
	req     *chela.Request
	row     *chela.Usage // the reservation; nil if there is none
	arrived int          // bytes of the answer
	asked   bool         // sent, with no outcome yet
}

// begin reserves the call if a limit applies, which may reduce the output limit
// of the answer.
func (c *call) begin(ctx context.Context) error {
	l := c.ledger
	now := l.cfg.Now()
	budgets := l.budgets(c.req.Payer, now, c.isFree())
	if len(budgets) == 0 {
		c.asked = true
		return nil
	}
	if i := slices.IndexFunc(budgets, isOfMoney); i >= 0 && c.isOpen() {
		return unpriced(c.model, budgets[i])
	}
	if err := l.isSpent(c.isFree()); err != nil {
		return err
	}
	row := l.usage(c.req.Payer, c.model)
	row.CreatedAt = now
	if row.Turn == "" {
		l.open.Store(row.ID, true)
	}
	choices := 1
	if s := c.req.Sampling; s != nil {
		choices = max(s.Choices, 1)
	}
	most := cmp.Or(c.req.MaxTokens, c.output) * choices
	output, err := l.reserve(ctx, &row, budgets, ask{quote: c.quote, prompt: l.prompt(c.req), output: most, least: min(c.least()*choices, most)})
	if err != nil {
		l.open.Delete(row.ID)
		return err
	}
	c.asked, c.row = true, &row
	if output /= choices; output > 0 && output != c.req.MaxTokens {
		req := *c.req
		req.MaxTokens = output
		c.req = &req
	}
	return nil
}

// reserved returns the reservation of the call, or else a new row.
func (c *call) reserved() chela.Usage {
	if c.row != nil {
		return *c.row
	}
	return c.ledger.usage(c.req.Payer, c.model)
}

// finished computes the charge of an answer. A call without a turn is settled.
func (c *call) finished(ctx context.Context, f *chela.Finish) {
	c.asked = false
	f.Charge = chela.Charge{Model: c.model, Cost: c.price.Cost(f.Usage), Guessed: !c.known}
	if f.Usage.Total() == 0 && !c.isFree() { // the server reported no usage
		f.Charge.Tokens, f.Charge.Guessed = c.took(), true
		f.Charge.Cost = c.price.Cost(f.Charge.Tokens)
	}
	if f.Billed != nil {
		f.Charge.Cost, f.Charge.Guessed = *f.Billed, false
	}
	if c.row != nil {
		f.Charge.ID, f.Charge.Node = c.row.ID, c.row.Node
	}
	if c.req.Payer.Turn != "" {
		return
	}
	row := c.reserved()
	u := f.Charge.Settle(row.Payer, f.Usage, row.CreatedAt)
	u.ID, u.Node = row.ID, row.Node
	c.end(ctx, u)
}

// took estimates the tokens of the call from the received bytes.
func (c *call) took() chela.TokenUsage {
	return chela.TokenUsage{Input: int64(c.ledger.prompt(c.req)), Output: int64(c.arrived+bytesOfToken-1) / bytesOfToken}
}

// failed ends a call that ended with an error. It costs nothing if the provider
// reports it as unpaid, or if the error occurred before the provider was asked.
func (c *call) failed(ctx context.Context, err error) {
	unpaid := ctx.Err() == nil
	if told, ok := errors.AsType[*chela.ProviderError](err); ok {
		unpaid = told.Unpaid
	}
	if c.arrived > 0 || !unpaid {
		return // left settles it
	}
	c.asked = false
	if c.row == nil {
		return
	}
	u := *c.row
	u.State, u.Cost = chela.UsageReleased, 0
	c.end(ctx, u)
}

// left settles an abandoned call: its partial answer may be billed.
func (c *call) left(ctx context.Context) {
	if !c.asked {
		return
	}
	u := c.reserved()
	u.State, u.Guessed, u.Tokens = chela.UsageLost, true, c.took()
	switch {
	case c.row == nil:
		u.Cost = c.price.Cost(u.Tokens)
	case !c.hides(): // nothing is hidden, so only received bytes were generated; a token has at least one byte
		u.Cost = min(u.Cost, c.most(c.ledger.prompt(c.req), c.arrived))
	}
	if c.row != nil || u.Cost > 0 {
		c.end(ctx, u)
	}
}

// least returns the minimum output worth a call, in tokens.
func (c *call) least() int {
	if c.reasons() {
		return leastThought
	}
	return leastOutput
}

// hides reports whether the provider may have generated more than was received.
func (c *call) hides() bool { return c.req.Plain || c.reasons() }

// reasons reports whether the model may reason invisibly before its answer.
// Without a thinking level this depends on its provider.
func (c *call) reasons() bool {
	if c.req.Thinking != "" {
		return c.req.Thinking != chela.ThinkingOff
	}
	if p, ok := c.inner.(onDemand); ok && p.ReasonsOnDemand(c.req.Model) {
		return false
	}
	return c.thinks
}

// An onDemand provider has models that reason only on request.
type onDemand interface {
	ReasonsOnDemand(model string) bool
}

// end stores the outcome of a call that no turn settles, also after a
// cancellation. If that fails, Tend closes the reservation.
func (c *call) end(ctx context.Context, u chela.Usage) {
	l := c.ledger
	defer l.open.Delete(u.ID)
	ctx = context.WithoutCancel(ctx) // the caller waits for it
	if err := l.record(ctx, u); err != nil {
		l.cfg.Log.Warn("model call not recorded", "model", u.Model, "turn", u.Turn, "error", err)
	}
}

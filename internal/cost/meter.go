package cost

import (
	"context"
	"errors"
	"iter"

	"chela"
)

// Meter returns a provider of one model, as provider/model, whose requests are in
// the ledger and within the limits. It belongs right around who makes them, within
// all that asks again: each request is one row. One that a limit does not let
// happen fails with an Exhausted error whose Limit tells which; that is no
// ProviderError, so nobody asks again.
//
// A request is on the account of its Payer. Where that has a turn, the turn
// appends the row, by the Charge of the Finish; otherwise the ledger does.
func (l *Ledger) Meter(p chela.Provider, model string) chela.Provider {
	m := &metered{ledger: l, inner: p, quote: quote{model: model}, output: anyOutput, thinks: l.cfg.Thinks(model)}
	m.price, m.known = l.cfg.Price(model)
	m.free = m.price == chela.Price{}
	if n := l.cfg.MaxOutput(model); n > 0 {
		m.output = n
	}
	return m
}

type metered struct {
	ledger *Ledger
	inner  chela.Provider
	quote
	output int  // tokens that an answer has at most, where the request does not say
	free   bool // it costs nothing
	thinks bool // it may reason without showing it
}

// An ask is what is known of a call before it is made, in tokens.
type ask struct {
	quote
	prompt int
	output int // at most
	least  int // that it must be allowed
}

// Stream implements chela.Provider.
func (m *metered) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		c := call{metered: m, req: req}
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
	req     *chela.Request
	row     *chela.Usage // what is reserved; nil if nothing is
	arrived int          // bytes of the answer
	asked   bool         // and nothing came of it yet
}

// begin reserves the call, where a limit applies. The answer may have to be
// shorter then.
func (c *call) begin(ctx context.Context) error {
	l := c.ledger
	if !l.cfg.Limits.apply(&c.req.Payer, c.free) {
		c.asked = true
		return nil
	}
	if err := l.isSpent(c.free); err != nil {
		return err
	}
	row := l.usage(c.req.Payer, c.model)
	if row.Turn == "" {
		l.begun(row.ID)
	}
	most := c.room()
	output, err := l.reserve(ctx, &row, ask{quote: c.quote, prompt: l.prompt(c.req), output: most, least: min(c.least(), most)})
	if err != nil {
		l.ended(row.ID)
		return err
	}
	c.asked, c.row = true, &row
	if output > 0 && output != c.req.MaxTokens {
		req := *c.req
		req.MaxTokens = output
		c.req = &req
	}
	return nil
}

// room returns how many tokens the answer may have.
func (c *call) room() int {
	if c.req.MaxTokens > 0 {
		return c.req.MaxTokens
	}
	return c.output
}

// reserved returns the row of the call: what is reserved, or else a new one.
func (c *call) reserved() chela.Usage {
	if c.row != nil {
		return *c.row
	}
	return c.ledger.usage(c.req.Payer, c.model)
}

// finished says what the answer costs. A call without a turn is settled.
func (c *call) finished(ctx context.Context, f *chela.Finish) {
	c.asked = false
	f.Charge = chela.Charge{Model: c.model, Cost: c.price.Cost(f.Usage), Guessed: !c.known}
	if f.Usage.Total() == 0 && !c.free { // the server does not count
		f.Charge.Tokens, f.Charge.Guessed = c.took(), true
		f.Charge.Cost = c.price.Cost(f.Charge.Tokens)
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

// took returns about how many tokens the call took, by what arrived.
func (c *call) took() chela.TokenUsage {
	return chela.TokenUsage{Input: int64(c.ledger.prompt(c.req)), Output: int64(c.arrived+bytesOfToken-1) / bytesOfToken}
}

// failed ends a call that ended with an error. It costs nothing where nothing was
// done for it, which its provider tells; what is none of a provider's doing came
// before it was asked.
func (c *call) failed(ctx context.Context, err error) {
	unpaid := ctx.Err() == nil
	if told, ok := errors.AsType[*chela.ProviderError](err); ok {
		unpaid = told.Unpaid
	}
	if c.arrived > 0 || !unpaid {
		return // left ends it
	}
	c.asked = false
	if c.row == nil {
		return
	}
	u := *c.row
	u.State, u.Cost = chela.UsageReleased, 0
	c.end(ctx, u)
}

// left ends a call that was left before its end: what was said so far may have
// to be paid.
func (c *call) left(ctx context.Context) {
	if !c.asked {
		return
	}
	c.asked = false
	u := c.reserved()
	u.State, u.Guessed, u.Tokens = chela.UsageLost, true, c.took()
	switch {
	case c.row == nil:
		u.Cost = c.price.Cost(u.Tokens)
	case !c.hides(): // what did not arrive was not written; no token has less than a byte
		u.Cost = min(u.Cost, c.most(c.ledger.prompt(c.req), c.arrived))
	}
	if c.row != nil || u.Cost > 0 {
		c.end(ctx, u)
	}
}

// least returns how many tokens the answer must have at least for the call to make
// sense.
func (c *call) least() int {
	if c.reasons() {
		return leastThought
	}
	return leastOutput
}

// hides reports whether more may have been written than arrived.
func (c *call) hides() bool { return c.req.Plain || c.reasons() }

// reasons reports whether the model may reason ahead of its answer, and not show
// all of it. Where nobody says how much it should, that is up to its provider.
func (c *call) reasons() bool {
	if c.req.Thinking != "" {
		return c.req.Thinking != chela.ThinkingOff
	}
	if p, ok := c.inner.(onDemand); ok && p.ReasonsOnDemand(c.req.Model) {
		return false
	}
	return c.thinks
}

// An onDemand provider knows models that reason only where a request says so.
type onDemand interface {
	ReasonsOnDemand(model string) bool
}

// end stores how a call ended that no turn settles, also of one that was stopped.
// A reservation that cannot be ended now is found by Tend.
func (c *call) end(ctx context.Context, u chela.Usage) {
	l := c.ledger
	defer l.ended(u.ID)
	ctx = context.WithoutCancel(ctx) // the caller waits for it
	var err error
	if u.Node == "" {
		err = l.charge(ctx, u)
	} else {
		err = l.settle(ctx, u)
	}
	if err != nil {
		l.cfg.Log.Warn("model call not kept", "model", u.Model, "turn", u.Turn, "error", err)
	}
}

package cost

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"

	"chela"
)

// Wrap returns a provider whose calls are in the ledger and within the limits.
// Models are those that may answer, each as provider/model: first the one that is
// asked, then those that stand in for it. A call that a limit does not let happen
// fails with an Exhausted error whose Limit tells which.
//
// A request is on the account of its Payer. Where that has a turn, the turn
// appends the row, by the Charge of the Finish; otherwise the ledger does.
func (l *Ledger) Wrap(p chela.Provider, models ...string) chela.Provider {
	m := &metered{ledger: l, inner: p, output: anyOutput, free: true}
	for i, name := range models {
		price, known := l.cfg.Price(name)
		m.quotes = append(m.quotes, quote{model: name, price: price, known: known})
		m.free = m.free && price == chela.Price{}
		if n := l.cfg.MaxOutput(name); n > 0 && (i == 0 || n > m.output) {
			m.output = n
		}
	}
	return m
}

type metered struct {
	ledger *Ledger
	inner  chela.Provider
	quotes []quote
	output int  // tokens that an answer has at most, where the request does not say
	free   bool // whoever answers
}

// An ask is what is known of a call before it is made, in tokens.
type ask struct {
	quotes []quote
	prompt int
	output int // at most
	least  int // that it must be allowed
}

// Stream implements chela.Provider.
func (m *metered) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		c := call{metered: m, req: req}
		defer func() { c.left(ctx) }()
		output := cmp.Or(req.MaxTokens, m.output)
		err := c.begin(ctx, output, min(leastOutput, output))
		if err == nil && req.Again && c.row == nil {
			err = c.lost(ctx) // that of the process which died
		}
		if err != nil {
			yield(chela.Chunk{}, err)
			return
		}
		for chunk, err := range m.inner.Stream(ctx, c.req) {
			switch {
			case err != nil:
				c.failed(ctx, err)
			case chunk.Finish != nil:
				c.finished(ctx, chunk.Finish)
			case chunk.Anew:
				err = c.anew(ctx)
			default:
				c.arrived += len(chunk.Text) + len(chunk.Thinking)
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// A call is one call of a model, from its reservation to its end.
type call struct {
	*metered
	req     *chela.Request
	row     *chela.Usage // what is reserved; nil if nothing is
	arrived int          // bytes of the answer
	asked   bool         // and nothing came of it yet
}

// begin reserves the call, where a limit applies. The answer may have to be
// shorter then.
func (c *call) begin(ctx context.Context, output, least int) error {
	l := c.ledger
	if !l.cfg.Limits.apply(&c.req.Payer, c.free) {
		c.asked = true
		return nil
	}
	if err := l.isSpent(c.free); err != nil {
		return err
	}
	row := c.usage()
	if row.Turn == "" {
		l.begun(row.ID)
	}
	output, err := l.reserve(ctx, &row, ask{quotes: c.quotes, prompt: c.prompt(), output: output, least: least})
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

// usage returns a row of the ledger for the call.
func (c *call) usage() chela.Usage {
	l := c.ledger
	u := chela.Usage{ID: l.cfg.IDs.Usage(), Payer: c.req.Payer, Model: c.quotes[0].model, CreatedAt: l.cfg.Now()}
	u.Purpose = cmp.Or(u.Purpose, "model")
	return u
}

// reserved returns the row of the call: what is reserved, or else a new one.
func (c *call) reserved() chela.Usage {
	if c.row != nil {
		return *c.row
	}
	return c.usage()
}

// prompt returns how many tokens the prompt has.
func (c *call) prompt() int {
	if c.req.Tokens > 0 {
		return c.req.Tokens
	}
	return c.ledger.cfg.Count(c.req)
}

// finished says what the answer costs. A call without a turn is settled.
func (c *call) finished(ctx context.Context, f *chela.Finish) {
	c.asked = false
	q := c.quoteOf(cmp.Or(f.Served, c.quotes[0].model))
	f.Charge = chela.Charge{Model: q.model, Cost: q.price.Cost(f.Usage), Guessed: !q.known}
	if f.Usage.Total() == 0 { // the server does not count
		f.Charge.Cost = q.price.Cost(c.guess(f))
		f.Charge.Guessed = f.Charge.Guessed || f.Charge.Cost > 0
	}
	if c.row != nil {
		f.Charge.ID, f.Charge.Node = c.row.ID, c.row.Node
	}
	if c.req.Payer.Turn != "" {
		return
	}
	u := c.reserved()
	u.State, u.Model, u.Tokens, u.Cost, u.Guessed = chela.UsageSettled, f.Charge.Model, f.Usage, f.Charge.Cost, f.Charge.Guessed
	c.end(ctx, u)
}

// guess returns about how many tokens a call took whose answer came whole.
func (c *call) guess(f *chela.Finish) chela.TokenUsage {
	written := c.arrived
	for _, made := range f.Calls {
		written += len(made.Tool) + len(made.Args) + len(made.Raw)
	}
	return c.took(written)
}

// took returns about how many tokens a call took of whose answer some bytes came.
func (c *call) took(bytes int) chela.TokenUsage {
	return chela.TokenUsage{Input: int64(c.prompt()), Output: int64(bytes+bytesOfToken-1) / bytesOfToken}
}

// quoteOf returns what a model takes.
func (c *call) quoteOf(model string) quote {
	for _, q := range c.quotes {
		if q.model == model {
			return q
		}
	}
	price, known := c.ledger.cfg.Price(model)
	return quote{model: model, price: price, known: known}
}

// failed ends a call that the provider ended with an error. One that failed
// before anything came costs nothing.
func (c *call) failed(ctx context.Context, err error) {
	cut := false // or it cannot be read, but was written
	if refused, ok := errors.AsType[*chela.ProviderError](err); ok {
		cut = refused.Cut || refused.Status == http.StatusOK
	}
	if ctx.Err() != nil || c.arrived > 0 || cut {
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
	if err := c.lost(ctx); err != nil {
		c.ledger.cfg.Log.Warn("lost model call not kept", "turn", c.req.Payer.Turn, "error", err)
	}
}

// anew ends a call that broke off, and begins the next, which may say as much:
// a limit may not have enough left for that.
func (c *call) anew(ctx context.Context) error {
	c.left(ctx)
	c.row, c.arrived = nil, 0
	output := cmp.Or(c.req.MaxTokens, c.output)
	return c.begin(ctx, output, output)
}

// lost ends a call of which the answer is not known, or not whole.
func (c *call) lost(ctx context.Context) error {
	u := c.reserved()
	tokens := c.took(c.arrived)
	var cost chela.MicroUSD // of the dearest that may have said it
	for _, q := range c.quotes {
		cost = max(cost, q.price.Cost(tokens))
	}
	if u.Node != "" {
		cost = min(cost, u.Cost)
	} else if cost == 0 {
		return nil
	}
	u.State, u.Tokens, u.Cost, u.Guessed = chela.UsageLost, tokens, cost, true
	return c.store(ctx, u)
}

// end stores how a call ended that no turn settles. A reservation that cannot be
// ended now is found by Tend.
func (c *call) end(ctx context.Context, u chela.Usage) {
	if err := c.store(ctx, u); err != nil {
		c.ledger.cfg.Log.Warn("model call not kept", "model", u.Model, "turn", u.Turn, "error", err)
	}
}

// store stores how a call ended: also of one that was stopped.
func (c *call) store(ctx context.Context, u chela.Usage) error {
	l := c.ledger
	defer l.ended(u.ID)
	ctx = context.WithoutCancel(ctx) // the caller waits for it
	if u.Node == "" {
		return l.charge(ctx, u)
	}
	return l.settle(ctx, u)
}

package cost

import "chela"

const (
	margin       = 10   // percent; a prompt may be larger than its estimate by this margin
	leastOutput  = 1024 // minimum output worth a call, in tokens
	leastThought = 4096 // the same for a reasoning model
	anyOutput    = 4096 // output limit of a model without a known one
	bytesOfToken = 3    // minimum bytes per token of received text
	warnAt       = 80   // percent of a limit
)

// A quote is the price of a model.
type quote struct {
	price chela.Price
	known bool // price is known, not assumed
}

// isOpen reports whether nothing is known or assumed about the price.
func (q quote) isOpen() bool { return !q.known && q.price == chela.Price{} }

// isFree reports whether the model costs nothing.
func (q quote) isFree() bool { return q.known && q.price == chela.Price{} }

// most returns the maximum cost of a call: its whole prompt is uncached, and
// written to the cache if that costs more.
func (q quote) most(prompt, output int) chela.MicroUSD {
	in, out := int64(prompt)+int64(prompt)*margin/100, int64(output)
	return max(q.price.Cost(chela.TokenUsage{Input: in, Output: out}), q.price.Cost(chela.TokenUsage{CacheWrite: in, Output: out}))
}

// affordable returns the largest output, up to limit, whose maximum cost fits
// into left.
func (q quote) affordable(prompt, limit int, left chela.MicroUSD) int {
	low, high := -1, limit // low fits, or is none
	for low < high {
		mid := low + (high-low+1)/2
		if q.most(prompt, mid) <= left {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return max(low, 0)
}

package cost

import "chela"

const (
	margin       = 10   // of a prompt, in percent, by which it may be larger than it was counted
	leastOutput  = 1024 // tokens of output for which a call is still made
	leastThought = 4096 // the same of a model that reasons ahead of its answer
	anyOutput    = 4096 // tokens of output of a model of which nothing is known
	bytesOfToken = 3    // of text that arrived, at least
	warnAt       = 80   // percent of a limit
)

// A quote is what a model takes.
type quote struct {
	model string // provider/model
	price chela.Price
	known bool // the price is
}

// most returns the most that a call can cost: its whole prompt is read anew, and
// kept in a cache where that is dearer.
func (q quote) most(prompt, output int) chela.MicroUSD {
	in, out := int64(prompt)+int64(prompt)*margin/100, int64(output)
	return max(q.price.Cost(chela.TokenUsage{Input: in, Output: out}), q.price.Cost(chela.TokenUsage{CacheWrite: in, Output: out}))
}

// affordable returns how many tokens of output fit, up to limit.
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

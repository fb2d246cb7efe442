package openai

import (
	"math"
	"strconv"

	"chela"
	"chela/internal/model/provider/wire"
)

// maxAmount bounds amounts, in dollars.
const maxAmount = 1e6

// billed returns the cost of an answer in OpenRouter's usage: dollars, and for a key
// of another service also what that service charges. It is nil if there is none.
func billed(usage wire.Value) *chela.MicroUSD {
	total, ok := dollars(usage.Member("cost"))
	if !ok {
		return nil
	}
	if usage.Member("is_byok").Text() == "true" {
		upstream, _ := dollars(usage.Member("cost_details").Member("upstream_inference_cost"))
		total += upstream
	}
	m := chela.MicroUSD(math.Ceil(total * float64(chela.USD)))
	return &m
}

// dollars returns an amount, a number or the text of one.
func dollars(v wire.Value) (float64, bool) {
	f, err := strconv.ParseFloat(v.Text(), 64)
	return f, err == nil && f >= 0 && f < maxAmount // not NaN either
}

// price reads the price of a model in a list of models; nil if it has none.
// OpenRouter and Vercel write dollars per token as text, Together dollars per
// million tokens as numbers. A negative price stands for one that varies.
func price(v wire.Value) *chela.Price {
	rate := func(names ...string) (chela.MicroUSD, bool) {
		for _, name := range names {
			member := v.Member(name)
			f, ok := dollars(member)
			if !ok {
				continue
			}
			if member.IsString() {
				f *= 1e6
			}
			return chela.MicroUSD(math.Round(f * float64(chela.USD))), true
		}
		return 0, false
	}
	input, ok := rate("prompt", "input")
	if !ok {
		return nil
	}
	output, ok := rate("completion", "output")
	if !ok {
		return nil
	}
	p := &chela.Price{Rates: chela.Rates{Input: input, Output: output, CacheRead: input, CacheWrite: input}}
	if read, ok := rate("input_cache_read", "cached_input"); ok {
		p.CacheRead = read
	}
	if write, ok := rate("input_cache_write"); ok {
		p.CacheWrite = write
	}
	return p
}

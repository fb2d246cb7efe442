package chela_test

import (
	"testing"

	"chela"
)

func TestPriceCost(t *testing.T) {
	t.Parallel()
	rates := chela.Rates{Input: 3 * chela.USD, Output: 15 * chela.USD, CacheRead: chela.USD / 10, CacheWrite: 4 * chela.USD}
	long := chela.Rates{Input: 6 * chela.USD, Output: 30 * chela.USD}
	for name, c := range map[string]struct {
		price chela.Price
		usage chela.TokenUsage
		want  chela.MicroUSD
	}{
		"nothing":            {chela.Price{Rates: rates}, chela.TokenUsage{}, 0},
		"free":               {chela.Price{}, chela.TokenUsage{Input: 1e6, Output: 1e6}, 0},
		"each category":      {chela.Price{Rates: rates}, chela.TokenUsage{Input: 10, Output: 2, CacheRead: 20, CacheWrite: 5, Reasoning: 1}, 82},
		"rounded up":         {chela.Price{Rates: rates}, chela.TokenUsage{CacheRead: 1}, 1},
		"just not long":      {chela.Price{Rates: rates, LongFrom: 100, Long: long}, chela.TokenUsage{Input: 99, Output: 1}, 99*3 + 15},
		"long":               {chela.Price{Rates: rates, LongFrom: 100, Long: long}, chela.TokenUsage{Input: 100, Output: 1}, 630},
		"long by the cache":  {chela.Price{Rates: rates, LongFrom: 100, Long: long}, chela.TokenUsage{Input: 1, CacheRead: 99}, 6},
		"output is not long": {chela.Price{Rates: rates, LongFrom: 100, Long: long}, chela.TokenUsage{Output: 1000}, 15_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.price.Cost(c.usage); got != c.want {
				t.Errorf("it costs %d, want %d", got, c.want)
			}
		})
	}
}

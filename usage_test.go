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
		"out of all reason":  {chela.Price{Rates: chela.Rates{Input: 999_999_999 * chela.USD, Output: chela.USD}}, chela.TokenUsage{Input: 1e7, Output: 1}, 1_000_000 * chela.USD},
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

func TestUSD(t *testing.T) {
	t.Parallel()
	amounts := map[string]chela.MicroUSD{
		"0": 0, "3": 3 * chela.USD, "3.0": 3 * chela.USD, "3.75": 3_750_000, "0.075": 75_000, "0.000001": 1, "999999999": 999_999_999 * chela.USD,
	}
	for text, want := range amounts {
		if got, err := chela.ParseUSD(text); err != nil || got != want {
			t.Errorf("ParseUSD(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", ".5", "3.", "-1", "+1", "1e3", "0.0000001", "1,5", "1.2.3", "$3", " 3", "1_000", "inf", "1000000000"} {
		if got, err := chela.ParseUSD(text); chela.KindOf(err) != chela.Invalid {
			t.Errorf("ParseUSD(%q) = %d, %v, want an Invalid error", text, got, err)
		}
	}
	shown := map[chela.MicroUSD]string{0: "$0.00", 3 * chela.USD: "$3.00", 75_000: "$0.075", 4_200: "$0.0042", 1: "$0.000001", -1_500_000: "-$1.50"}
	for m, want := range shown {
		if got := m.String(); got != want {
			t.Errorf("%d microdollars are %s, want %s", m, got, want)
		}
	}
}

func TestUsageMoves(t *testing.T) {
	t.Parallel()
	states := []chela.UsageState{chela.UsageReserved, chela.UsageSettled, chela.UsageReleased, chela.UsageLost}
	for _, from := range states {
		for _, to := range states {
			if got, want := from.CanMove(to), from == chela.UsageReserved && to != chela.UsageReserved; got != want {
				t.Errorf("from %s to %s: %v, want %v", from, to, got, want)
			}
		}
	}
}

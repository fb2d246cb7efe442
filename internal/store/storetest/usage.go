package storetest

import (
	"testing"
	"time"

	"chela"
	"chela/internal/store"
)

func checkUsage(t *testing.T, s *store.Store) {
	ctx := t.Context()
	f, other := found(t, s, "f"), found(t, s, "other")
	spent := func(key chela.SessionKey, since time.Time) chela.TokenUsage {
		return read(t, s, func(r *store.Read) (chela.TokenUsage, error) {
			sum, err := r.UsageSince(ctx, key, since)
			return sum.Tokens, err
		})
	}
	same(t, chela.TokenUsage{}, spent("", time.Time{}))

	early, late := f.newUsage("early", full[chela.TokenUsage]()), f.newUsage("late", full[chela.TokenUsage]())
	late.CreatedAt = at(1)
	far := other.newUsage("far", chela.TokenUsage{Input: 5_000_000_000})
	zero := f.newUsage("zero", chela.TokenUsage{})
	zero.CreatedAt = time.Time{}
	for _, u := range []chela.Usage{early, late, far, zero} {
		write(t, s, func(w *store.Write) error { return w.Charge(ctx, u) })
		refuse(t, s, chela.Conflict, func(w *store.Write) error { return w.Charge(ctx, u) })
	}
	one := late.Tokens
	two := chela.TokenUsage{
		Input: 2 * one.Input, Output: 2 * one.Output, CacheRead: 2 * one.CacheRead, CacheWrite: 2 * one.CacheWrite,
		Reasoning: 2 * one.Reasoning,
	}
	same(t, two, spent(f.key, time.Time{}))
	same(t, two, spent(f.key, at(0)))
	same(t, one, spent(f.key, at(1)))
	same(t, chela.TokenUsage{}, spent(f.key, at(2)))
	same(t, one, spent("", at(1)))
	same(t, far.Tokens, spent(other.key, at(0)))
	two.Input += far.Tokens.Input
	same(t, two, spent("", at(0)))
}

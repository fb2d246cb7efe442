package providers

import (
	"context"
	"iter"
	"strings"

	"chela"
	"chela/internal/config"
	"chela/internal/provider"
)

// chain returns what stands between those who ask for the first of some models and
// those who serve them, outermost first:
//
//	recording → cache → takeover → breaker → failover → keys → retry → fallback → meter → provider → idle
//
// What it remembers of failures is shared by all who ask for the same models.
func (p *Providers) chain(models []string) chela.Provider {
	key := strings.Join(models, "\n")
	p.mu.Lock()
	c, ok := p.chains[key]
	p.mu.Unlock()
	if ok {
		return c
	}
	candidates := make([]provider.Candidate, len(models))
	for i, model := range models {
		c, err := p.candidate(model)
		if err != nil { // it may be there when it is needed, and the others are
			c = provider.Candidate{Model: model, Find: func() (provider.Candidate, error) { return p.candidate(model) }}
		}
		candidates[i] = c
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.chains[key]; ok {
		return c // somebody else was faster
	}
	c = p.wrap(candidates, models)
	if len(p.chains) < maxKept {
		p.chains[key] = c
	}
	return c
}

// candidate returns a model as a chain asks it. The error of one that cannot be had
// says why.
func (p *Providers) candidate(model string) (provider.Candidate, error) {
	s, err := p.serve(model)
	if err != nil {
		return provider.Candidate{}, err
	}
	m := p.Model(model)
	p.known.Warn(m)
	return provider.Candidate{Model: model, Name: s.name, Provider: s.used, MaxOutput: m.MaxOutput}, nil
}

// maxKept is how many models and chains are kept; clients name them, and further
// ones are made for each turn.
const maxKept = 1000

// wrap is the one place where the wrappers of several models are put together.
func (p *Providers) wrap(candidates []provider.Candidate, models []string) chela.Provider {
	if p.player != nil {
		return p.recorded(p.player.Play(models[0]), models[0])
	}
	cfg := p.settings.Chain
	c := provider.Failover(candidates, p.restConfig())
	c = provider.Breaker(c, provider.BreakerConfig{
		Name: models[0], Now: p.cfg.Now, Log: p.cfg.Log, Failures: cfg.BreakerFailures, Open: cfg.BreakerOpen,
	})
	if p.cfg.Ledger != nil {
		c = p.cfg.Ledger.TakeOver(c, models...)
	}
	c = provider.Cache(c, provider.CacheConfig{Now: p.cfg.Now, Keep: cfg.Cache})
	return p.recorded(c, models[0])
}

// single puts together what belongs to one model: each of its keys is tried again
// by itself.
func (p *Providers) single(settings config.Provider, model, name string) (s served, err error) {
	s.name = name
	if p.player != nil {
		s.raws, s.used = []chela.Provider{p.player.Play(model)}, p.player.Play(model)
		return s, nil
	}
	cfg := provider.RetryConfig{
		Wait: p.cfg.Wait, Random: p.cfg.Random, Attempts: p.settings.Chain.Attempts, First: p.settings.Chain.FirstWait,
	}
	var keys []chela.Provider
	for _, with := range settings.WithEachKey() {
		raw, err := makeProvider(with, p.known.Model(model), p.client, p.cfg.Now)
		if err != nil {
			return served{}, err
		}
		s.raws = append(s.raws, raw)
		keys = append(keys, provider.Retry(provider.Fallback(p.metered(raw, model)), cfg))
	}
	s.used = provider.Rotate(model, keys, p.restConfig())
	return s, nil
}

// metered puts a provider of a model into the ledger.
func (p *Providers) metered(raw chela.Provider, model string) chela.Provider {
	if p.cfg.Ledger == nil {
		return raw
	}
	return p.cfg.Ledger.Meter(raw, model)
}

func (p *Providers) restConfig() provider.RestConfig {
	return provider.RestConfig{Rests: &p.rests, Now: p.cfg.Now, Log: p.cfg.Log, Cooldown: p.settings.Chain.Cooldown}
}

// recorded records what is asked and answered, if that is wanted.
func (p *Providers) recorded(c chela.Provider, model string) chela.Provider {
	if p.recorder == nil {
		return c
	}
	return p.recorder.Record(c, model)
}

// Unusable returns a provider that only tells why it cannot be used.
func Unusable(err error) chela.Provider { return unusable{err} }

type unusable struct{ err error }

func (u unusable) Stream(context.Context, *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) { yield(chela.Chunk{}, u.err) }
}

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
//	recording → cache → budget → breaker → failover → keys → retry → fallback → provider
//
// What it remembers of failures is shared by all who ask for the same models.
func (p *Providers) chain(models []string) chela.Provider {
	candidates := make([]provider.Candidate, len(models))
	for i, model := range models {
		s, err := p.serve(model)
		if err != nil {
			s.used = Unusable(err)
		} else {
			p.known.Warn(p.Model(model))
		}
		candidates[i] = provider.Candidate{Model: model, Name: s.name, Provider: s.used}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := strings.Join(models, "\n")
	c, ok := p.chains[key]
	if !ok {
		c = p.wrap(candidates, models)
		p.chains[key] = c
	}
	return c
}

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
	if p.cfg.Budget != nil {
		c = p.cfg.Budget(c, models...)
	}
	c = provider.Cache(c, provider.CacheConfig{Now: p.cfg.Now, Keep: cfg.Cache})
	return p.recorded(c, models[0])
}

// single puts together what belongs to one model: each of its keys is tried again
// by itself.
func (p *Providers) single(settings config.Provider, model, name string) (s served, err error) {
	s.name = name
	if p.player != nil {
		s.raw, s.used = p.player.Play(model), p.player.Play(model)
		return s, nil
	}
	cfg := provider.RetryConfig{
		Wait: p.cfg.Wait, Random: p.cfg.Random, Attempts: p.settings.Chain.Attempts, First: p.settings.Chain.FirstWait,
	}
	var keys []chela.Provider
	for _, with := range settings.WithEachKey() {
		raw, err := makeProvider(with, p.known.Model(model), p.cfg.Now)
		if err != nil {
			return served{}, err
		}
		if s.raw == nil {
			s.raw = raw
		}
		keys = append(keys, provider.Retry(provider.Fallback(raw), cfg))
	}
	s.used = provider.Rotate(model, keys, p.restConfig())
	return s, nil
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

// Package providers makes the providers of a home's configuration, as turns use
// them. The list of their kinds is in kinds.go.
package providers

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"chela"
	"chela/internal/app/known"
	"chela/internal/catalogue"
	"chela/internal/config"
	"chela/internal/provider"
)

// A served model is a provider as it was made, and as turns use it.
type served struct {
	raw  chela.Provider
	used chela.Provider // tries again where that may help
	name string         // the model as the provider knows it
}

// Providers serves the models of a home. It may be used by several goroutines at
// once.
type Providers struct {
	cfg   *config.Config
	known *known.Models
	retry provider.RetryConfig

	mu     sync.Mutex
	models map[string]served // guarded by mu; by their whole names
}

// New returns the providers of a configuration. Retry says how a request that
// was not fulfilled is made again.
func New(cfg *config.Config, m *known.Models, retry provider.RetryConfig) *Providers {
	return &Providers{cfg: cfg, known: m, retry: retry, models: map[string]served{}}
}

// Serve returns the provider of provider/model, as turns use it, and the model's
// name there. The error of one that cannot be had says why. That nothing is
// known of a model is told once.
func (p *Providers) Serve(model string) (used chela.Provider, name string, err error) {
	s, err := p.serve(model)
	if err == nil {
		p.known.Warn(p.Model(model))
	}
	return s.used, s.name, err
}

func (p *Providers) serve(model string) (served, error) {
	settings, name, err := p.cfg.Resolve(model)
	if err != nil {
		return served{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.models[model]; ok {
		return s, nil
	}
	raw, err := makeProvider(settings, p.known.Model(model))
	if err != nil {
		return served{}, err
	}
	s := served{raw: raw, used: provider.Retry(provider.Fallback(raw), p.retry), name: name}
	p.models[model] = s
	return s, nil
}

// A windowed provider tells the window of its models without being asked over
// the network; 0 if it does not know.
type windowed interface{ Window(model string) int }

// Model returns what is known of a model, or assumed where nothing is. What its
// provider tells without being asked over the network counts where the home says
// nothing.
func (p *Providers) Model(model string) chela.Model {
	m := p.known.Model(model)
	if known.IsOwn(m, catalogue.FieldWindow) {
		return m
	}
	if s, err := p.serve(model); err == nil {
		if w, ok := s.raw.(windowed); ok && w.Window(s.name) > 0 {
			return p.known.Fill(chela.Model{Provider: m.Provider, Name: m.Name, Window: w.Window(s.name)})
		}
	}
	return m
}

// A lister is a provider that can tell its models.
type lister interface {
	Models(ctx context.Context) ([]chela.Model, error)
}

// anyModel stands for a model where only the provider matters.
const anyModel = "any"

// Models returns the models of every provider that can be asked.
func (p *Providers) Models(ctx context.Context) ([]chela.Model, error) {
	var models []chela.Model
	for _, name := range p.cfg.ProviderNames() {
		settings, err := p.cfg.Provider(name)
		if err != nil {
			return nil, err
		}
		s, err := p.serve(name + "/" + anyModel)
		if err != nil {
			continue // no key: nothing of it can be used
		}
		list, ok := s.raw.(lister)
		if !ok {
			models = append(models, knownModels(settings)...)
			continue
		}
		found, err := list.Models(ctx)
		if err != nil && p.mayBeAway(settings, err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list the models of %s: %w", name, err)
		}
		models = append(models, found...)
	}
	return models, nil
}

// mayBeAway reports whether a provider that cannot be reached is an Ollama that
// might be there, and that nobody told chela of.
func (p *Providers) mayBeAway(settings config.Provider, err error) bool {
	at, unknown := p.cfg.Value("providers." + settings.Name + ".base_url")
	told := unknown != nil || at.Source != "default" && at.Source != "env OLLAMA_HOST"
	return settings.Kind == config.KindOllama && chela.KindOf(err) == chela.Unavailable && !told
}

// knownModels are the models of a provider that cannot be asked for a list.
func knownModels(p config.Provider) []chela.Model {
	if p.Kind == config.KindOffline {
		return []chela.Model{{Provider: p.Name, Name: "rules"}}
	}
	return nil // the models of script are files
}

// Test sends a short request to a model, once; without a name to that of the
// home.
func (p *Providers) Test(ctx context.Context, model string) (chela.Finish, error) {
	s, err := p.serve(cmp.Or(model, p.cfg.Model))
	if err != nil {
		return chela.Finish{}, err
	}
	req := &chela.Request{
		Model: s.name, System: "Answer with one word.", MaxTokens: 256,
		Messages: []chela.Message{{Role: chela.RoleUser, Text: "hello"}},
	}
	for chunk, err := range s.raw.Stream(ctx, req) {
		if err != nil {
			return chela.Finish{}, err
		}
		if chunk.Finish != nil {
			return *chunk.Finish, nil
		}
	}
	return chela.Finish{}, chela.E(chela.Internal, "the provider ended without an answer")
}

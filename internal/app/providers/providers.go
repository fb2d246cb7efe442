// Package providers makes the providers of a home's configuration, as turns use
// them. The list of their kinds is in kinds.go.
package providers

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"chela"
	"chela/internal/app/known"
	"chela/internal/catalogue"
	"chela/internal/config"
	"chela/internal/provider"
	"chela/internal/provider/record"
)

// Config says what providers are made of. All fields but Ledger are required.
type Config struct {
	Settings *config.Config
	Known    *known.Models
	Log      *slog.Logger
	Now      func() time.Time

	// Wait returns after d, or earlier with the error of ctx.
	Wait func(ctx context.Context, d time.Duration) error

	// Random returns a number from 0 to below 1, to several goroutines at once.
	Random func() float64

	Ledger ledger // nil counts nothing

	// Listing is how long a provider may take to tell its models; 0 means 5 s.
	Listing time.Duration
}

// A ledger sees to it that requests are counted and paid for.
type ledger interface {
	// Meter returns a provider of one model whose requests are counted.
	Meter(p chela.Provider, model string) chela.Provider

	// TakeOver returns a provider that first counts what a dead process has asked.
	// Models are those that may answer.
	TakeOver(p chela.Provider, models ...string) chela.Provider
}

// Providers serves the models of a home. It may be used by several goroutines at
// once.
type Providers struct {
	cfg      Config
	settings *config.Config
	known    *known.Models
	scrub    *record.Scrubber
	recorder *record.Recorder // nil: nothing is recorded
	player   *record.Player   // nil: the models themselves answer
	named    map[string]bool  // the models that the configuration names
	rests    provider.Rests
	client   *http.Client // reaches all servers

	mu     sync.Mutex
	models map[string]served         // guarded by mu; by their whole names
	chains map[string]chela.Provider // guarded by mu; by the names of all models that may answer
}

// A served model is one model as it was made, and as the chains ask it.
type served struct {
	raws []chela.Provider // with each key; one at least
	used chela.Provider   // with all its keys, and tries again where that may help
	name string           // the model as the provider knows it
}

// New returns the providers of a configuration. It fails if a recording that is to
// be made or played cannot be.
func New(cfg Config) (*Providers, error) {
	cfg.Listing = cmp.Or(cfg.Listing, 5*time.Second)
	p := &Providers{
		cfg: cfg, settings: cfg.Settings, known: cfg.Known, named: namedBy(cfg.Settings),
		models: map[string]served{}, chains: map[string]chela.Provider{},
		client: &http.Client{Transport: provider.Idle(http.DefaultTransport, provider.IdleConfig{
			Limit: cfg.Settings.Chain.Idle, AfterFunc: time.AfterFunc,
		})},
	}
	if cfg.Settings.Record == "" && cfg.Settings.Replay == "" {
		return p, nil
	}
	p.scrub = record.NewScrubber(cfg.Settings.Secrets()...)
	var err error
	if dir := cfg.Settings.Replay; dir != "" {
		if p.player, err = record.Open(dir, p.scrub); err != nil {
			return nil, err
		}
	}
	if dir := cfg.Settings.Record; dir != "" {
		p.recorder, err = record.NewRecorder(dir, record.RecorderConfig{Scrub: p.scrub, Now: cfg.Now, Log: cfg.Log})
	}
	return p, err
}

// Serve returns the provider of provider/model, which no other model stands in for,
// and the model's name there. The error of one that cannot be had says why. That
// nothing is known of a model is told once.
func (p *Providers) Serve(model string) (used chela.Provider, name string, err error) {
	s, err := p.serve(model)
	if err != nil {
		return nil, "", err
	}
	return p.chain([]string{model}), s.name, nil
}

// ServeAll returns a provider of the first of some models, as provider/model, for
// which the others stand in where it fails, also where it cannot be had at all. If
// it is the only one, the error says why it cannot be had.
func (p *Providers) ServeAll(models []string) (used chela.Provider, name string, err error) {
	if len(models) == 1 {
		return p.Serve(models[0])
	}
	_, name, _ = strings.Cut(models[0], "/")
	return p.chain(models), name, nil
}

// serve returns a single model.
func (p *Providers) serve(model string) (served, error) {
	settings, name, err := p.resolve(model)
	if err != nil {
		return served{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.models[model]; ok {
		return s, nil
	}
	s, err := p.single(settings, model, name)
	if err == nil && len(p.models) < maxKept {
		p.models[model] = s
	}
	return s, err
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
		if w, ok := s.raws[0].(windowed); ok && w.Window(s.name) > 0 {
			return p.known.Fill(chela.Model{Provider: m.Provider, Name: m.Name, Window: w.Window(s.name)})
		}
	}
	return m
}

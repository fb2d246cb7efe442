package agents

// This part of the package merges the sources of model properties: config.toml
// overrides models.toml, which overrides the built-in catalogue. For a model
// without an entry, the [unknown_model] section supplies the assumed values,
// and a warning is logged once.

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"chela"
	"chela/internal/config"
	"chela/internal/model/catalogue"
)

// Assumed is the source of assumed values.
const Assumed = "assumed, see [unknown_model]"

// byProvider is the source of values that a provider told.
const byProvider = "the provider"

// onThisMachine is the source of the price of free models.
const onThisMachine = "served without charge"

// KnownModels knows the models of a home. It is safe for concurrent use.
type KnownModels struct {
	cfg       *config.Config
	catalogue *catalogue.Catalogue
	services  map[string]catalogue.Service // the catalogue service of each provider, by the name of the provider
	log       *slog.Logger

	mu     sync.Mutex
	models map[string]chela.Model // guarded by mu; cache of lookups, up to maxKept
	prices map[string]chela.Price // guarded by mu; told by providers
	told   map[string]bool        // guarded by mu; the unknown models already logged
}

// maxKnown limits the cache of models; callers choose the names.
const maxKnown = 1000

// NewKnownModels reads models.toml of the home, if it exists. An error is Invalid and
// names the place, or says why the file cannot be read.
func NewKnownModels(cfg *config.Config, log *slog.Logger) (*KnownModels, error) {
	text, err := os.ReadFile(cfg.Home.ModelsFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, chela.E(chela.Denied, "cannot read "+cfg.Home.ModelsFile()).
			WithHint("make it a file that you may read, or move it away").Because(err)
	}
	c, err := catalogue.Load(text)
	if err != nil {
		return nil, err
	}
	k := &KnownModels{cfg: cfg, catalogue: c.With(cfg.Models()), services: map[string]catalogue.Service{}, log: log, models: map[string]chela.Model{}, prices: map[string]chela.Price{}, told: map[string]bool{}}
	for _, name := range cfg.ProviderNames() {
		if s, ok := serviceOf(cfg, name); ok {
			k.services[name] = s
		}
	}
	return k, nil
}

// Model returns the properties of provider/model, with assumed values for
// missing ones. Only its abilities may be undetermined then. Its sources tell
// known from assumed values. The result is read-only.
func (k *KnownModels) Model(model string) chela.Model {
	k.mu.Lock()
	defer k.mu.Unlock()
	m, ok := k.models[model]
	if !ok {
		m = k.listed(model)
		k.fill(&m)
		if len(k.models) < maxKnown {
			k.models[model] = m
		}
	}
	return m
}

// listed returns the entry of a model, under its provider's name or the name of
// the provider's service.
func (k *KnownModels) listed(model string) chela.Model {
	provider, name, _ := strings.Cut(model, "/")
	m, _ := k.catalogue.Model(provider, name)
	of, _ := k.catalogue.Model(k.nameOf(provider), name)
	for field, source := range of.Sources {
		if m.Sources[field] != "" {
			continue
		}
		setSource(&m, field, source)
		switch field {
		case catalogue.FieldWindow:
			m.Window = of.Window
		case catalogue.FieldMaxOutput:
			m.MaxOutput = of.MaxOutput
		case catalogue.FieldPrice:
			m.Price = of.Price
		case catalogue.FieldAbilities:
			m.Abilities = of.Abilities
		case catalogue.FieldLevels:
			m.Levels = of.Levels
		}
	}
	return m
}

// Fill completes the properties that a provider reported for a model; they
// override the catalogue but not config.toml and models.toml.
func (k *KnownModels) Fill(told chela.Model) chela.Model {
	name := told.Provider + "/" + told.Name
	m := k.listed(name)
	if told.Window > 0 && !IsOwn(m, catalogue.FieldWindow) {
		m.Window = told.Window
		setSource(&m, catalogue.FieldWindow, byProvider)
	}
	if told.MaxOutput > 0 && !IsOwn(m, catalogue.FieldMaxOutput) {
		m.MaxOutput = told.MaxOutput
		setSource(&m, catalogue.FieldMaxOutput, byProvider)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if told.Price != nil && len(k.prices) < maxPrices {
		k.prices[name] = *told.Price
		delete(k.models, name)
	}
	k.fill(&m)
	return m
}

// maxPrices limits the prices told by providers: OpenRouter lists some 400 models.
const maxPrices = 10_000

// IsOwn reports whether a value of a model comes from a file of the home.
func IsOwn(m chela.Model, field string) bool {
	source := m.Sources[field]
	return strings.HasPrefix(source, "config.toml") || strings.HasPrefix(source, "models.toml")
}

// Of returns the listed models of a provider, for providers that cannot list
// their models.
func (k *KnownModels) Of(provider string) []chela.Model {
	var models []chela.Model
	for _, m := range k.catalogue.Models() {
		if m.Provider == provider || m.Provider == k.nameOf(provider) {
			models = append(models, k.Model(provider+"/"+m.Name))
		}
	}
	return models
}

// priced returns all models with a known price, sorted by provider/model.
func (k *KnownModels) priced() (found []chela.Model) {
	names := map[string]bool{}
	for _, m := range k.catalogue.Models() {
		names[m.Provider+"/"+m.Name] = true
	}
	k.mu.Lock()
	for name := range k.prices {
		names[name] = true
	}
	k.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if _, known := k.Price(name); known {
			found = append(found, k.Model(name))
		}
	}
	return found
}

// Price returns the price of provider/model. An unknown price is the assumed one of
// [unknown_model], or zero.
func (k *KnownModels) Price(model string) (price chela.Price, known bool) {
	m := k.Model(model)
	if m.Price == nil {
		return chela.Price{}, false
	}
	return *m.Price, m.Sources[catalogue.FieldPrice] != Assumed
}

// Warn logs once that a model, as from [Models.Model], is unknown, if it is.
func (k *KnownModels) Warn(m chela.Model) {
	assumed, name := Assumption(m), m.Provider+"/"+m.Name
	if assumed == "" || k.ComesAlong(m.Provider) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.told[name] || len(k.told) >= maxKnown {
		return
	}
	k.told[name] = true
	k.log.Warn("model is not known", "model", name, "assumed", assumed, "cure", UnknownModelHint(name))
}

// Assumption describes the assumed values of a model, "" if there are none.
func Assumption(m chela.Model) string {
	var parts []string
	if m.Sources[catalogue.FieldWindow] == Assumed {
		parts = append(parts, fmt.Sprintf("a window of %d tokens", m.Window))
	}
	switch {
	case m.Price == nil:
		parts = append(parts, "no price")
	case m.Sources[catalogue.FieldPrice] == Assumed:
		parts = append(parts, fmt.Sprintf("%s for a million tokens of input and %s of output", m.Price.Input, m.Price.Output))
	}
	return strings.Join(parts, ", ")
}

// UnknownModelHint is the hint that makes a model known.
func UnknownModelHint(model string) string {
	return fmt.Sprintf("chela models set %s --window TOKENS --input DOLLARS --output DOLLARS", model)
}

// fill sets the price that the provider told, unless a file of the home has one,
// and adds the assumed values. It is called with mu held.
func (k *KnownModels) fill(m *chela.Model) {
	if price, ok := k.prices[m.Provider+"/"+m.Name]; ok && !IsOwn(*m, catalogue.FieldPrice) {
		m.Price = &price
		setSource(m, catalogue.FieldPrice, byProvider)
	}
	if m.Window == 0 {
		m.Window = k.cfg.Unknown.Window
		setSource(m, catalogue.FieldWindow, Assumed)
	}
	if m.MaxOutput == 0 {
		m.MaxOutput = min(k.cfg.Unknown.MaxOutput, m.Window)
		setSource(m, catalogue.FieldMaxOutput, Assumed)
	}
	switch {
	case m.Price != nil:
	case k.free(m.Provider):
		m.Price = &chela.Price{}
		setSource(m, catalogue.FieldPrice, onThisMachine)
	case k.cfg.Unknown.Input != nil && k.cfg.Unknown.Output != nil:
		input, output := *k.cfg.Unknown.Input, *k.cfg.Unknown.Output
		m.Price = &chela.Price{Rates: chela.Rates{Input: input, Output: output, CacheRead: input, CacheWrite: input}}
		setSource(m, catalogue.FieldPrice, Assumed)
	}
}

func setSource(m *chela.Model, field, source string) {
	if m.Sources == nil {
		m.Sources = map[string]string{}
	}
	m.Sources[field] = source
}

// serviceOf returns the catalogue service of a provider, whatever its name in
// config.toml: the service with its protocol and address, or else with its
// name.
func serviceOf(cfg *config.Config, provider string) (found catalogue.Service, ok bool) {
	p, err := cfg.Provider(provider)
	if err != nil {
		return found, false
	}
	for _, s := range catalogue.Services() {
		if s.Kind == string(p.Kind) && strings.TrimSuffix(s.BaseURL, "/") == strings.TrimSuffix(p.BaseURL, "/") {
			return s, true
		}
		if s.Name == provider {
			found, ok = s, true
		}
	}
	return found, ok
}

// nameOf returns the service name of a provider, or the provider's own name if
// it has no service.
func (k *KnownModels) nameOf(provider string) string {
	return cmp.Or(k.services[provider].Name, provider)
}

// free reports whether a provider is free: it is part of the program, or serves
// on this machine without a key, or its service is free. With a key, a server
// on this machine may be a proxy to a paid service.
func (k *KnownModels) free(provider string) bool {
	p, err := k.cfg.Provider(provider)
	return err == nil && (p.Kind.ComesAlong() || isLoopback(p.BaseURL) && !p.Key.IsSet() || k.services[provider].Keyless)
}

// ComesAlong reports whether a provider is part of the program, so that its
// models need no entry.
func (k *KnownModels) ComesAlong(provider string) bool {
	p, err := k.cfg.Provider(provider)
	return err == nil && p.Kind.ComesAlong()
}

// isLoopback reports whether a URL is of this machine.
func isLoopback(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}

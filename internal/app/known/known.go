// Package known puts together what a home knows of models: what its config.toml
// says counts before its models.toml, and that before what the program knows.
// Where nobody knows anything, the [unknown_model] section says what is assumed,
// and it is said in the log once.
package known

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"

	"chela"
	"chela/internal/catalogue"
	"chela/internal/config"
)

// Assumed is the source of what nobody knows.
const Assumed = "assumed, see [unknown_model]"

// onThisMachine is the source of the price of what costs nothing.
const onThisMachine = "served without charge"

// Models knows the models of a home. It may be used by several goroutines at
// once.
type Models struct {
	cfg       *config.Config
	catalogue *catalogue.Catalogue
	services  map[string]catalogue.Service // that providers are, by the name of the provider
	log       *slog.Logger

	mu     sync.Mutex
	models map[string]chela.Model // guarded by mu; what was asked for, up to maxKept
	told   map[string]bool        // guarded by mu; the unknown models that the log was told of
}

// maxKept bounds how many models are kept at hand; what they are called is up to
// those who ask.
const maxKept = 1000

// New reads models.toml of the home, if there is one. An error is Invalid and
// says where that is wrong, or says why it cannot be read.
func New(cfg *config.Config, log *slog.Logger) (*Models, error) {
	text, err := os.ReadFile(cfg.Home.ModelsFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, chela.E(chela.Denied, "cannot read "+cfg.Home.ModelsFile()).
			WithHint("make it a file that you may read, or move it away").Because(err)
	}
	c, err := catalogue.Load(text)
	if err != nil {
		return nil, err
	}
	k := &Models{cfg: cfg, catalogue: c.With(cfg.Models()), services: map[string]catalogue.Service{}, log: log, models: map[string]chela.Model{}, told: map[string]bool{}}
	for _, name := range cfg.ProviderNames() {
		if s, ok := serviceOf(cfg, name); ok {
			k.services[name] = s
		}
	}
	return k, nil
}

// Model returns what is known of provider/model, or assumed where nothing is.
// Only the abilities may be open then. Its sources say which is which. What it
// returns is only to be read.
func (k *Models) Model(model string) chela.Model {
	k.mu.Lock()
	defer k.mu.Unlock()
	m, ok := k.models[model]
	if !ok {
		m = k.listed(model)
		k.fill(&m)
		if len(k.models) < maxKept {
			k.models[model] = m
		}
	}
	return m
}

// listed returns what is written down of a model, under its provider's name or
// under that of the service which the provider is.
func (k *Models) listed(model string) chela.Model {
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
		}
	}
	return m
}

// Fill adds what the home knows of a model to what its provider told, which
// counts before the catalogue but not before config.toml and models.toml.
func (k *Models) Fill(told chela.Model) chela.Model {
	m := k.listed(told.Provider + "/" + told.Name)
	if told.Window > 0 && !IsOwn(m, catalogue.FieldWindow) {
		m.Window = told.Window
		setSource(&m, catalogue.FieldWindow, "the provider")
	}
	if told.MaxOutput > 0 && !IsOwn(m, catalogue.FieldMaxOutput) {
		m.MaxOutput = told.MaxOutput
		setSource(&m, catalogue.FieldMaxOutput, "the provider")
	}
	k.fill(&m)
	return m
}

// IsOwn reports whether a value of a model is from a file of the home.
func IsOwn(m chela.Model, field string) bool {
	source := m.Sources[field]
	return strings.HasPrefix(source, "config.toml") || strings.HasPrefix(source, "models.toml")
}

// Of returns the models of a provider that are listed, for one that does not
// tell its own.
func (k *Models) Of(provider string) []chela.Model {
	var models []chela.Model
	service := k.nameOf(provider)
	for _, m := range k.catalogue.Models() {
		if m.Provider == provider || m.Provider == service {
			models = append(models, k.Model(provider+"/"+m.Name))
		}
	}
	return models
}

// Price returns what provider/model takes; what is assumed where that is not
// known.
func (k *Models) Price(model string) (price chela.Price, known bool) {
	m := k.Model(model)
	return *m.Price, m.Sources[catalogue.FieldPrice] != Assumed
}

// Warn tells the log once that a model, as from [Models.Model], is not known, if
// it is not.
func (k *Models) Warn(m chela.Model) {
	assumed, name := Assumption(m), m.Provider+"/"+m.Name
	if assumed == "" || k.ComesAlong(m.Provider) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.told[name] || len(k.told) >= maxKept {
		return
	}
	k.told[name] = true
	k.log.Warn("model is not known", "model", name, "assumed", assumed, "cure", Cure(name))
}

// Assumption says what is assumed of a model, "" if nothing is.
func Assumption(m chela.Model) string {
	var parts []string
	if m.Sources[catalogue.FieldWindow] == Assumed {
		parts = append(parts, fmt.Sprintf("a window of %d tokens", m.Window))
	}
	if m.Sources[catalogue.FieldPrice] == Assumed {
		parts = append(parts, fmt.Sprintf("%s for a million tokens of input and %s of output", m.Price.Input, m.Price.Output))
	}
	return strings.Join(parts, ", ")
}

// Cure says how a model is made known.
func Cure(model string) string {
	return fmt.Sprintf("chela models set %s --window TOKENS --input DOLLARS --output DOLLARS", model)
}

// fill adds what is assumed.
func (k *Models) fill(m *chela.Model) {
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
	default:
		u := k.cfg.Unknown
		m.Price = &chela.Price{Rates: chela.Rates{Input: u.Input, Output: u.Output, CacheRead: u.Input, CacheWrite: u.Input}}
		setSource(m, catalogue.FieldPrice, Assumed)
	}
}

func setSource(m *chela.Model, field, source string) {
	if m.Sources == nil {
		m.Sources = map[string]string{}
	}
	m.Sources[field] = source
}

// serviceOf returns the service that a provider is, whatever it is called in
// config.toml: the one of its protocol and address, or else of its name.
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

// nameOf returns the name of the service that a provider is, or its own if it is
// none.
func (k *Models) nameOf(provider string) string {
	return cmp.Or(k.services[provider].Name, provider)
}

// free reports whether a provider costs nothing: it is part of the program, or
// serves on this machine without a key, or its service takes no money. With a
// key, what is on this machine may be a proxy to somebody who takes money.
func (k *Models) free(provider string) bool {
	p, err := k.cfg.Provider(provider)
	if err != nil {
		return false
	}
	if k.ComesAlong(provider) || isLoopback(p.BaseURL) && !p.Key.IsSet() {
		return true
	}
	return k.services[provider].Keyless
}

// ComesAlong reports whether a provider is part of the program, which nobody need
// know anything of.
func (k *Models) ComesAlong(provider string) bool {
	p, err := k.cfg.Provider(provider)
	return err == nil && p.Kind.ComesAlong()
}

// isLoopback reports whether a URL is of this machine.
func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}

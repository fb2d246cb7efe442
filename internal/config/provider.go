package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"chela"
	"chela/internal/catalogue"
	"chela/internal/config/field"
	"chela/internal/config/tomlfile"
)

// A ProviderKind is a protocol that chela speaks with a provider.
type ProviderKind string

// The kinds of providers.
const (
	KindAnthropic ProviderKind = "anthropic"        // Messages
	KindOpenAI    ProviderKind = "openai"           // Chat Completions
	KindResponses ProviderKind = "openai-responses" // Responses
	KindGemini    ProviderKind = "gemini"           // the Gemini API
	KindOllama    ProviderKind = "ollama"           // Ollama's own
	KindBedrock   ProviderKind = "bedrock"          // Converse, of Amazon Bedrock
	KindOffline   ProviderKind = "offline"          // built-in rules; no model
	KindScript    ProviderKind = "script"           // plays a file; the model's name is its path
	KindReplay    ProviderKind = "replay"           // plays a recording; the model's name is its folder
)

var supportedKinds = []ProviderKind{
	KindAnthropic, KindOpenAI, KindResponses, KindGemini, KindOllama, KindBedrock, KindOffline, KindScript, KindReplay,
}

// A Provider says how to reach somebody who serves models.
type Provider struct {
	Name    string
	Kind    ProviderKind
	BaseURL string // empty: the one of the kind
	Key     Secret // not set where none is needed
	Region  string // of Bedrock
	Signing Signing

	// What is known of the service that it is: that nobody needs a key, what it
	// does not understand of its protocol, and what it understands beyond it.
	// Lacks is nil if it is no known service.
	Keyless    bool
	Lacks, Has []catalogue.Feature

	reference  string   // env:NAME, or empty where no key is needed
	references []string // of further keys
	further    []Secret // those that are set
}

// builtins are the providers that are there without a section, in the order in
// which a default model is looked for: the services of the catalogue whose
// protocol this version speaks, and what comes with the program.
func builtins() []catalogue.Service {
	known := slices.DeleteFunc(catalogue.Services(), func(s catalogue.Service) bool {
		return !slices.Contains(supportedKinds, ProviderKind(s.Kind))
	})
	return append(known,
		catalogue.Service{Name: "offline", Kind: string(KindOffline), Keyless: true},
		catalogue.Service{Name: "script", Kind: string(KindScript), Keyless: true},
		catalogue.Service{Name: "replay", Kind: string(KindReplay), Keyless: true})
}

// recognize takes what the catalogue knows of the service that p is.
func (p *Provider) recognize() {
	s, ok := catalogue.Find(p.Name, string(p.Kind), p.BaseURL)
	if !ok {
		return
	}
	p.Keyless, p.Has = s.Keyless, s.Has
	p.Lacks = append([]catalogue.Feature{}, s.Lacks...)
}

// offlineModel is used when there is no key at all, and no model on the machine.
const offlineModel = "offline/rules"

// Where the model comes from if nobody chose one and there is no key.
const (
	sourceOffline = "default: no key found"
	sourceLocal   = "default: no key found, Ollama answers"
)

// ComesAlong reports whether providers of a kind are part of the program: they have
// neither an address nor a key.
func (k ProviderKind) ComesAlong() bool {
	return k == KindOffline || k == KindScript || k == KindReplay
}

// Unchosen reports whether nobody chose a model and there is no key, and whether
// a model on the machine is used then, not the offline rules. A recording that is
// played was chosen.
func (c *Config) Unchosen() (unchosen, local bool) {
	source := ""
	for _, v := range c.values {
		if v.Key == "model" {
			source = v.Source
		}
	}
	if c.Replay != "" {
		return false, false
	}
	return source == sourceOffline || source == sourceLocal, source == sourceLocal
}

// Provider returns the settings of a provider; an unknown name is a NotFound
// error that names those there are.
func (c *Config) Provider(name string) (Provider, error) {
	if p, ok := c.providers[name]; ok {
		return *p, nil
	}
	names := c.ProviderNames()
	e := chela.E(chela.NotFound, fmt.Sprintf("no provider %q", field.Cut(name)))
	return Provider{}, suggest(e, name, names, "use one of "+strings.Join(names, ", ")+", or add [providers.NAME] to config.toml")
}

// ProviderNames returns the names of all providers, sorted.
func (c *Config) ProviderNames() []string { return sortedKeys(c.providers) }

// Configured returns the names of the providers that somebody set up, sorted:
// those with a key or a setting of their own, and those of the models that are
// used.
func (c *Config) Configured() []string {
	used := map[string]bool{}
	for _, v := range c.values {
		name, ok := strings.CutPrefix(v.Key, "providers.")
		name, _, _ = strings.Cut(name, ".")
		// OLLAMA_HOST is for Ollama itself: it says where, not that it is wanted.
		if ok && !strings.HasPrefix(v.Source, "default") && v.Source != "env OLLAMA_HOST" {
			used[name] = true
		}
	}
	for _, model := range c.UsedModels() {
		name, _, _ := strings.Cut(model, "/")
		used[name] = true
	}
	return sortedKeys(used)
}

// UsedModels returns the models of the home and of its agents, their cheap ones
// and those that stand in, as provider/model, sorted.
func (c *Config) UsedModels() []string {
	used := map[string]bool{}
	for _, a := range append(slices.Collect(maps.Values(c.agents)), &Agent{Model: c.Model, CheapModel: c.CheapModel, Fallbacks: c.Fallbacks}) {
		for _, model := range append([]string{a.Model, a.CheapModel}, a.Fallbacks...) {
			used[model] = true
		}
	}
	delete(used, "") // no cheap one
	return sortedKeys(used)
}

// Resolve splits provider/model and returns the provider and the model's name
// there. It is an Invalid error if the form is wrong, NotFound if there is no
// such provider, and Denied if its key is missing.
func (c *Config) Resolve(name string) (Provider, string, error) {
	provider, rest, ok := strings.Cut(name, "/")
	if !ok || rest == "" {
		return Provider{}, "", chela.E(chela.Invalid, fmt.Sprintf("unknown model %q", field.Cut(name))).
			WithHint("write provider/model, such as " + offlineModel)
	}
	p, err := c.Provider(provider)
	if err != nil {
		return Provider{}, "", err
	}
	if variable := strings.TrimPrefix(p.reference, "env:"); variable != "" && !p.Key.IsSet() && !p.Signing.IsSet() && c.Replay == "" {
		if p.Kind == KindBedrock {
			variable += ", or " + envKeyID + " and " + envSecretKey
		}
		return Provider{}, "", chela.E(chela.Denied, fmt.Sprintf("provider %s has no key", p.Name)).
			WithHint("set " + variable + ", or choose another model")
	}
	return p, rest, nil
}

// provider returns the provider of that name and makes it if need be.
func (c *Config) provider(name string) *Provider {
	p, ok := c.providers[name]
	if !ok {
		p = &Provider{Name: name}
		c.providers[name] = p
	}
	return p
}

// modelOf returns the settings of the model of that name, as provider/model, and
// makes them if need be.
func (c *Config) modelOf(name string) *catalogue.Row {
	m, ok := c.models[name]
	if !ok {
		m = &catalogue.Row{Source: "config.toml"}
		c.models[name] = m
	}
	return m
}

// agent returns the agent of that name and makes it if need be.
func (c *Config) agent(name string) *Agent {
	a, ok := c.agents[name]
	if !ok {
		a = &Agent{Name: name}
		c.agents[name] = a
	}
	return a
}

// channelQueue returns the queue settings of a channel and makes them if need be.
func (c *Config) channelQueue(name string) *chela.QueueSettings {
	q, ok := c.Queue.Channels[name]
	if !ok {
		q = &chela.QueueSettings{}
		c.Queue.Channels[name] = q
	}
	return q
}

// rule returns the policy rule at a place, as from [tomlfile.Place], and makes it if
// need be.
func (c *Config) rule(at string) *Rule {
	n := tomlfile.NthOf(at)
	for len(c.Policy) < n {
		c.Policy = append(c.Policy, Rule{})
	}
	return &c.Policy[n-1]
}

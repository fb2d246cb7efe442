package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"chela"
	"chela/internal/config/field"
)

// Chain says what happens between a turn and a provider.
type Chain struct {
	Attempts        int           // at one request, with one key of one model
	FirstWait       time.Duration // after the first of them; it doubles from there on
	Cooldown        time.Duration // of a key or model that failed and did not say for how long
	BreakerFailures int           // in a row, after which a model is let be
	BreakerOpen     time.Duration // for how long
	Idle            time.Duration // for which nothing may come from a server; 0 means for ever
	Cache           time.Duration // for which an answer is given again; 0 means never
}

// Routing says whether simple messages go to the cheap model.
type Routing struct{ Smart bool }

func defaultChain() Chain {
	return Chain{Attempts: 3, FirstWait: time.Second, Cooldown: time.Minute, BreakerFailures: 5, BreakerOpen: 30 * time.Second, Idle: 5 * time.Minute}
}

// chainSettings are the keys of what is asked, and how, where a model is needed.
var chainSettings = []setting{
	{"cheap_model", nil, func(c *Config, _ string) field.Field { return model(&c.CheapModel) }},
	{"fallbacks", nil, func(c *Config, _ string) field.Field { return modelList(&c.Fallbacks) }},
	{"agents.*.cheap_model", nil, func(c *Config, n string) field.Field { return model(&c.agent(n).CheapModel) }},
	{"agents.*.fallbacks", nil, func(c *Config, n string) field.Field { return modelList(&c.agent(n).Fallbacks) }},
	{"providers.*.keys", nil, func(c *Config, n string) field.Field { return keyReferences(c.provider(n)) }},
	{"record", nil, func(c *Config, _ string) field.Field { return folder(&c.Record) }},
	{"replay", nil, func(c *Config, _ string) field.Field { return folder(&c.Replay) }},
	{"chain.attempts", nil, func(c *Config, _ string) field.Field { return field.Number(&c.Chain.Attempts, 1, 10) }},
	{"chain.first_wait", nil, func(c *Config, _ string) field.Field {
		return field.Span(&c.Chain.FirstWait, time.Millisecond, time.Minute)
	}},
	{"chain.cooldown", nil, func(c *Config, _ string) field.Field {
		return field.Span(&c.Chain.Cooldown, time.Second, 24*time.Hour)
	}},
	{"chain.breaker_failures", nil, func(c *Config, _ string) field.Field {
		return field.Number(&c.Chain.BreakerFailures, 1, 1000)
	}},
	{"chain.breaker_open", nil, func(c *Config, _ string) field.Field {
		return field.Span(&c.Chain.BreakerOpen, time.Second, 24*time.Hour)
	}},
	{"chain.idle", nil, func(c *Config, _ string) field.Field { return field.Span(&c.Chain.Idle, 0, 24*time.Hour) }},
	{"chain.cache", nil, func(c *Config, _ string) field.Field { return field.Span(&c.Chain.Cache, 0, 24*time.Hour) }},
	{"routing.smart", nil, func(c *Config, _ string) field.Field { return field.Switch(&c.Routing.Smart) }},
}

func modelList(at *[]string) field.Field {
	return field.List(at, `a list of models as provider/model, such as "offline/rules"`, isModel)
}

func folder(at *string) field.Field { return field.Text(at, "a folder", field.OneLine) }

// keyReferences name where further keys of a provider are.
func keyReferences(p *Provider) field.Field {
	f := field.List(&p.references, `a list of "env:NAME", never the keys themselves`, func(s string) bool {
		name, ok := strings.CutPrefix(s, "env:")
		return ok && envName.MatchString(name)
	})
	f.Secret = true
	f.Show = func() string {
		if len(p.references) == 0 {
			return "not set"
		}
		return fmt.Sprintf("%d of %d set", len(p.further), len(p.references))
	}
	return f
}

// lookUpKeys reads the keys of all providers. Where only further ones are set, the
// first of them takes the place of the one that is not.
func (l *loader) lookUpKeys() {
	for _, p := range l.c.providers {
		p.Key = Secret{value: l.env[strings.TrimPrefix(p.reference, "env:")]}
		p.further = nil
		for _, reference := range p.references {
			if value := l.env[strings.TrimPrefix(reference, "env:")]; value != "" {
				p.further = append(p.further, Secret{value: value})
			}
		}
		if !p.Key.IsSet() && len(p.further) > 0 {
			p.Key = p.further[0]
		}
	}
}

// WithEachKey returns the provider once for each of its keys, in the order in which
// they are used. One without any is returned as it is.
func (p Provider) WithEachKey() []Provider {
	all := []Provider{p}
	for _, key := range p.further {
		if !slices.ContainsFunc(all, func(have Provider) bool { return have.Key == key }) {
			next := p
			next.Key = key
			all = append(all, next)
		}
	}
	return all
}

// Secrets returns every secret of the configuration: what no file of chela may
// hold.
func (c *Config) Secrets() []string {
	secrets := []string{c.Database.URL.Reveal()}
	if u, err := url.Parse(c.Database.URL.Reveal()); err == nil {
		password, _ := u.User.Password()
		secrets = append(secrets, password)
	}
	for _, p := range c.providers {
		for _, with := range p.WithEachKey() {
			secrets = append(secrets, with.Key.Reveal())
		}
		secrets = append(secrets, p.Signing.KeyID.Reveal(), p.Signing.Secret.Reveal(), p.Signing.SessionToken.Reveal())
	}
	return slices.DeleteFunc(secrets, func(s string) bool { return s == "" })
}

// ModelsOf returns the models that may answer where a model is asked for by an
// agent: that one, and those that stand in for it. For its cheap model the agent's
// own comes first.
func (c *Config) ModelsOf(agent, model string) []string {
	models, fallbacks := []string{model}, c.Fallbacks
	if a, ok := c.agents[agent]; ok {
		fallbacks = a.Fallbacks
		if model == a.CheapModel && model != a.Model {
			models = append(models, a.Model)
		}
	}
	for _, name := range fallbacks {
		if !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	return models
}

// Answerable returns nil if a message to an agent can be answered: by the model that
// was chosen for it, or else by the agent's own or one that stands in for it. The
// error is that of the first model that would be asked. Usable says why a model
// cannot be.
func (c *Config) Answerable(agent, chosen string, usable func(model string) error) error {
	a, err := c.Agent(agent)
	if err != nil {
		return err
	}
	if chosen != "" {
		return usable(chosen)
	}
	for _, model := range c.ModelsOf(agent, a.Model) {
		failed := usable(model)
		if failed == nil {
			return nil
		}
		if err == nil {
			err = failed
		}
	}
	return err
}

// inherit gives agents what they leave open.
func (l *loader) inherit() {
	for name, a := range l.c.agents {
		if a.CheapModel == "" {
			a.CheapModel = l.c.CheapModel
		}
		if _, ok := l.slots["agents."+name+".fallbacks"]; !ok {
			a.Fallbacks = l.c.Fallbacks
		}
	}
}

func isModel(s string) bool {
	provider, name, ok := strings.Cut(s, "/")
	return ok && chela.ValidName(provider) && field.OneLine(name)
}

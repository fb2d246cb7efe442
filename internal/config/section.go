package config

import (
	"chela/internal/config/field"
	"chela/internal/config/tomlfile"
	"chela/internal/model/catalogue"
)

// provider returns the provider of that name, creating it if missing.
func (c *Config) provider(name string) *Provider {
	p, ok := c.providers[name]
	if !ok {
		p = &Provider{Name: name}
		c.providers[name] = p
	}
	return p
}

// modelOf returns the settings of the model provider/model, creating them if
// missing.
func (c *Config) modelOf(name string) *catalogue.Row {
	m, ok := c.models[name]
	if !ok {
		m = &catalogue.Row{Source: "config.toml"}
		c.models[name] = m
	}
	return m
}

// agent returns the agent of that name, creating it if missing.
func (c *Config) agent(name string) *Agent {
	a, ok := c.agents[name]
	if !ok {
		a = &Agent{Name: name}
		c.agents[name] = a
	}
	return a
}

// rule returns the policy rule at a place, as from [tomlfile.Place], creating
// it if missing.
func (c *Config) rule(at string) *Rule {
	return nth(&c.Policy, nil, at)
}

// safetyRule returns the safety rule at a place of the list, creating it if missing.
func (c *Config) safetyRule(at string) *SafetyRule {
	return nth(&c.Safety, safetyKeys, at)
}

// hook returns the hook at a place of the list, creating it if missing.
func (c *Config) hook(at string) *Hook {
	return nth(&c.Hooks, hookKeys, at)
}

// nth returns the section at a place of a list, and adds those up to it with the
// defaults of their keys.
func nth[T any](list *[]T, keys []field.Key, at string) *T {
	n := tomlfile.NthOf(at)
	for len(*list) < n {
		var section T
		field.Defaults(keys, &section)
		*list = append(*list, section)
	}
	return &(*list)[n-1]
}

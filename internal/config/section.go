package config

import (
	"chela/internal/catalogue"
	"chela/internal/config/hooks"
	"chela/internal/config/tomlfile"
)

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

// rule returns the policy rule at a place, as from [tomlfile.Place], and makes it if
// need be.
func (c *Config) rule(at string) *Rule {
	n := tomlfile.NthOf(at)
	for len(c.Policy) < n {
		c.Policy = append(c.Policy, Rule{})
	}
	return &c.Policy[n-1]
}

// hook returns the hook at a place of the list, and makes it if it is new.
func (c *Config) hook(at string) *hooks.Hook {
	n := tomlfile.NthOf(at)
	for len(c.Hooks) < n {
		c.Hooks = append(c.Hooks, hooks.New())
	}
	return &c.Hooks[n-1]
}

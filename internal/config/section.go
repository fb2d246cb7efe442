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
	n := tomlfile.NthOf(at)
	for len(c.Policy) < n {
		c.Policy = append(c.Policy, Rule{})
	}
	return &c.Policy[n-1]
}

// safetyRule returns the safety rule at a place of the list, creating it if missing.
func (c *Config) safetyRule(at string) *SafetyRule {
	n := tomlfile.NthOf(at)
	for len(c.Safety) < n {
		var r SafetyRule
		field.Defaults(safetyKeys, &r)
		c.Safety = append(c.Safety, r)
	}
	return &c.Safety[n-1]
}

// hook returns the hook at a place of the list, creating it if missing.
func (c *Config) hook(at string) *Hook {
	n := tomlfile.NthOf(at)
	for len(c.Hooks) < n {
		var h Hook
		field.Defaults(hookKeys, &h)
		c.Hooks = append(c.Hooks, h)
	}
	return &c.Hooks[n-1]
}

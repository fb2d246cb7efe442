package config

import (
	"strings"

	"chela"
	"chela/internal/config/field"
)

// Provider returns the settings of a provider; an unknown name is a NotFound
// error that lists the known ones.
func (c *Config) Provider(name string) (Provider, error) {
	if p, ok := c.providers[name]; ok {
		return *p, nil
	}
	names := c.ProviderNames()
	e := chela.Ef(chela.NotFound, "no provider %q", field.Cut(name))
	return Provider{}, suggest(e, name, names, "use one of "+strings.Join(names, ", ")+", or add [providers.NAME] to config.toml")
}

// ProviderNames returns the names of all providers, sorted.
func (c *Config) ProviderNames() []string { return sortedKeys(c.providers) }

// Configured returns the names of the configured providers, sorted: providers
// with a key or a setting of their own, and providers of the models in use.
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

// Secrets returns every secret of the configuration, for redaction: none may
// appear in a file of chela.
func (c *Config) Secrets() []string {
	secrets := c.Database.Secrets()
	for _, p := range c.providers {
		secrets = append(secrets, p.Secrets()...)
	}
	return secrets
}

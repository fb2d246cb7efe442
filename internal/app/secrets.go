package app

import (
	"context"

	"chela"
	"chela/internal/config"
	"chela/internal/safety/leak"
	"chela/internal/safety/vault"
)

// MasterKey returns where the master key of a home is kept.
func MasterKey(cfg *config.Config) vault.Source {
	return vault.Source{
		Environment: cfg.MasterKey(), File: cfg.Home.MasterKey(), Keyring: vault.System{}, Account: string(cfg.Home), Prefer: cfg.Vault.Key,
	}
}

// openVault prepares the vault, whose key is read when it is needed.
func (a *App) openVault() {
	learn := func(name chela.SecretName, value string) { a.opening.leaks.Learn(string(name), value) }
	a.secrets = vault.New(a.store, vault.Config{Source: MasterKey(a.cfg), IDs: a.ids, Now: a.now, Learn: learn})
	a.refs = References(a.cfg, a.secrets)
	a.refs.Learn = func(reference chela.SecretReference, value string) {
		if place, name := reference.Split(); place == chela.PlaceEnvironment {
			a.opening.leaks.Learn(name, value)
		} else {
			a.opening.leaks.Learn("secret", value)
		}
	}
}

// learnSecrets has the values in the vault found at every way out. A vault that
// cannot be opened now has none that this process could tell.
func (a *App) learnSecrets(ctx context.Context) {
	values, err := a.secrets.Values(ctx)
	if err != nil {
		a.log.Warn("secrets not known to the redaction", "error", err)
	}
	leak.LearnAll(a.opening.leaks, values)
}

// References returns what resolves the references to secrets of a home.
func References(cfg *config.Config, secrets *vault.Secrets) *vault.References {
	return vault.NewReferences(secrets, vault.ReferenceConfig{Commands: vault.NewCommands(cfg.CommandEnviron()), Variable: cfg.Variable})
}

// MakeKey makes the master key of a home, unless it has one.
func (a *App) MakeKey(ctx context.Context) error {
	return a.secrets.MakeKey(ctx)
}

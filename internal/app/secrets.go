package app

import (
	"context"

	"chela/internal/config"
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
	a.secrets = vault.New(a.store, vault.Config{Source: MasterKey(a.cfg), IDs: a.ids, Now: a.now})
	a.refs = References(a.cfg, a.secrets)
}

// References returns what resolves the references to secrets of a home.
func References(cfg *config.Config, secrets *vault.Secrets) *vault.References {
	return vault.NewReferences(secrets, vault.ReferenceConfig{Commands: vault.NewCommands(cfg.CommandEnviron()), Variable: cfg.Variable})
}

// MakeKey makes the master key of a home, unless it has one.
func (a *App) MakeKey(ctx context.Context) error {
	return a.secrets.MakeKey(ctx)
}

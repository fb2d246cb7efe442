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

// MakeKey makes the master key of a home, unless it has one.
func (a *App) MakeKey(ctx context.Context) error {
	return a.secrets.MakeKey(ctx)
}

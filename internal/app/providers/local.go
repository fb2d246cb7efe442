package providers

import (
	"context"
	"time"

	"chela/internal/config"
	"chela/internal/config/provider"
	"chela/internal/provider/ollama"
)

// patience is how long a server on this machine may take to tell its models.
const patience = 200 * time.Millisecond

// Local looks for a model on this machine, in an Ollama at the address that is
// configured for it or at its usual one. It returns its name as provider/model,
// or nothing if none answers soon.
func Local(ctx context.Context, cfg *config.Config) string {
	settings, err := cfg.Provider("ollama")
	if err != nil || settings.Kind != provider.Ollama {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p, err := ollama.New(ollama.Config{Name: settings.Name, BaseURL: settings.BaseURL, APIKey: settings.Key.Reveal()})
	if err != nil {
		return ""
	}
	name, err := p.First(ctx)
	if err != nil {
		return ""
	}
	return settings.Name + "/" + name
}

package agents

import (
	"context"
	"time"

	"chela/internal/config"
	"chela/internal/model/provider/ollama"
)

// patience is the timeout of listing the models of a server on this machine.
const patience = 200 * time.Millisecond

// Local looks for a model on this machine, in an Ollama at its configured or
// its usual address. It returns the name as provider/model, or nothing if no
// server answers in time.
func Local(ctx context.Context, cfg *config.Config) string {
	settings, err := cfg.Provider("ollama")
	if err != nil || settings.Kind != config.ProviderOllama {
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

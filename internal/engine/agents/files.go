package agents

import (
	"slices"

	"chela"
	"chela/internal/config"
)

// resolve returns the provider of provider/model and the model's name there. A
// model that is a file on this machine is refused unless the configuration or
// the command names it: otherwise every sender of messages could have any file
// read, and a scenario that records could write one.
func (p *Providers) resolve(model string) (config.Provider, string, error) {
	settings, name, err := p.settings.Resolve(model)
	isFile := settings.Kind == config.ProviderScript || settings.Kind == config.ProviderReplay
	if err != nil || !isFile || p.player != nil || slices.Contains(p.named, model) {
		return settings, name, err
	}
	return config.Provider{}, "", chela.E(chela.Invalid, "models of "+settings.Name+" are files, and the configuration does not name this one").
		WithHint("name it in config.toml: as model or cheap_model, in fallbacks, or for an agent")
}

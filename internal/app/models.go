package app

import (
	"chela"
	"chela/internal/config"
)

// anyModel stands for a model where only the provider matters.
const anyModel = "any"

// knownModels are the models of a provider that cannot be asked for a list.
func knownModels(p config.Provider) []chela.Model {
	if p.Kind == config.KindOffline {
		return []chela.Model{{Provider: p.Name, Name: "rules"}}
	}
	return nil // the models of script are files
}

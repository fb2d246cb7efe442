package app

import (
	"slices"

	"chela"
	"chela/internal/engine/agents"
	"chela/internal/engine/cost"
	"chela/internal/engine/prompt"
	"chela/internal/platform/local"
)

// newLedger returns the ledger of the home, with the known prices.
func (a *App) newLedger(models *agents.KnownModels) *cost.Ledger {
	l := a.cfg.Limits
	return cost.New(a.store, cost.Config{
		Process: a.process(a.emit),
		Zone:    a.cfg.Zone(),
		Limits: cost.Limits{
			Day: l.USDPerDay, Session: l.USDPerSession, Turn: l.USDPerTurn, Job: l.USDPerJob, Routine: l.USDPerRoutine, Actions: l.ActionsPerHour,
		},
		Models: priced{models, promptSettings(a.cfg.Compaction)}, Count: prompt.CountRequest, Wait: local.Sleep,
	})
}

// priced are the known models with what the ledger asks about them.
type priced struct {
	*agents.KnownModels
	settings prompt.Settings
}

// MaxOutput returns the output limit of a model: no more than any prompt leaves room for.
func (p priced) MaxOutput(model string) int {
	m := p.Model(model)
	b := p.settings.Budget(prompt.Frame{Window: m.Window})
	return min(m.MaxOutput, b.Window-b.Room)
}

// Thinks reports whether a model may reason without showing the reasoning.
func (p priced) Thinks(model string) bool {
	return slices.Contains(p.Model(model).Abilities, chela.AbleThinking)
}

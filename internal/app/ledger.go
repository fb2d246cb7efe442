package app

import (
	"slices"

	"chela"
	"chela/internal/engine/agents"
	"chela/internal/engine/cost"
	"chela/internal/engine/prompt"
	"chela/internal/platform/pause"
)

// newLedger returns the ledger of the home, with the known prices.
func (a *App) newLedger(models *agents.KnownModels) *cost.Ledger {
	l := a.cfg.Limits
	return cost.New(a.store, cost.Config{
		Node: a.node, IDs: a.ids, Now: a.now, Zone: a.cfg.Zone(), Log: a.log, Emit: a.emit,
		Limits: cost.Limits{
			Day: l.USDPerDay, Session: l.USDPerSession, Turn: l.USDPerTurn, Job: l.USDPerJob, Routine: l.USDPerRoutine, Actions: l.ActionsPerHour,
		},
		Price: models.Price,
		MaxOutput: func(model string) int { // and no more than any prompt leaves room for
			m := models.Model(model)
			b := promptSettings(a.cfg.Compaction).Budget(prompt.Frame{Window: m.Window})
			return min(m.MaxOutput, b.Window-b.Room)
		},
		Thinks: func(model string) bool {
			return slices.Contains(models.Model(model).Abilities, chela.AbleThinking)
		},
		Count: prompt.CountRequest,
		Dead:  a.presence.Dead,
		Wait:  pause.For,
	})
}

package app

import (
	"context"
	"slices"

	"chela"
	"chela/internal/app/known"
	"chela/internal/cli/usage"
	"chela/internal/cost"
	"chela/internal/gateway/usages"
	"chela/internal/pause"
	"chela/internal/prompt"
	"chela/internal/store"
)

// newLedger returns the ledger of the home. It says what models take as far as
// is known.
func (a *App) newLedger(models *known.Models) *cost.Ledger {
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

// spending is what commands ask about what was spent.
func (b *backend) spending() usage.Home {
	return usage.Home{
		Sums: b.ledger.Sums, Budgets: b.ledger.Budgets,
		OfTurn: func(ctx context.Context, id chela.TurnID) ([]chela.Usage, error) {
			return store.Find(ctx, b.store, func(r *store.Read) ([]chela.Usage, error) {
				t, err := r.Turn(ctx, id)
				if err != nil {
					return nil, err
				}
				return r.TurnUsage(ctx, t)
			})
		},
	}
}

// spendingRoutes is the same for programs.
func (a *App) spendingRoutes() usages.Home {
	return usages.Home{Sums: a.ledger.Sums, Budgets: a.ledger.Budgets, Now: a.now, Zone: a.cfg.Zone()}
}

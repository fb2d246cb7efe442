package app

import (
	"slices"

	"chela/internal/api"
)

// operations binds all operations to the home.
func (a *App) operations() []api.Bound {
	return slices.Concat(
		a.sessions.Operations(a.ingress.Accept),
		a.rewinds.Operations(),
		a.background.Jobs().Operations(),
		a.background.Routines().Operations(),
		a.background.Notices().Operations(),
		a.approvals.Operations(),
		a.tokens.Operations(),
		a.agents.Operations(),
		a.models.Operations(),
		a.memory.Operations(),
	)
}

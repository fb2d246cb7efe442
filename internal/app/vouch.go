package app

import "chela/internal/engine/vouch"

// vouches returns the owner's vouches for texts from outside.
func (a *App) vouches() *vouch.Vouches {
	return vouch.New(a.store, vouch.Config{IDs: a.ids, Now: a.now, Workspace: a.folders.Locate, Agent: a.cfg.CheckAgent})
}

package app

import (
	"context"

	"chela"
	"chela/internal/config"
	"chela/internal/engine/prompt"
	"chela/internal/engine/turn/machine"
	"chela/internal/store"
)

func promptSettings(c config.Compaction) prompt.Settings {
	return prompt.Settings{Reserve: c.ReserveTokens, ReserveFloor: c.ReserveFloor, KeepRecent: c.KeepRecentTokens, Soft: c.SoftThreshold}
}

// promptSize returns the size of the next prompt of a thread, without the new
// message.
func (a *App) promptSize(ctx context.Context, id chela.ThreadID) (chela.PromptSize, error) {
	var s chela.Session
	var conversation prompt.Conversation
	err := a.store.Read(ctx, func(r *store.Read) error {
		t, err := r.Thread(ctx, id)
		if err != nil {
			return err
		}
		if s, err = r.Session(ctx, t.Session); err != nil {
			return err
		}
		entries, err := r.PromptPath(ctx, t.Head)
		conversation = machine.Begin(t, entries).Conversation
		return err
	})
	if err != nil {
		return chela.PromptSize{}, err
	}
	model := a.agents.Model(s, chela.Inbound{})
	f, err := a.agents.Frame(ctx, s, model)
	size := prompt.Breakdown(promptSettings(a.cfg.Compaction).Budget(f), f, conversation)
	size.Model = model
	return size, err
}

package app

import (
	"context"

	"chela"
	"chela/internal/config"
	"chela/internal/prompt"
	"chela/internal/store"
	"chela/internal/turn"
)

// A windowed provider tells the window of its models without being asked over
// the network.
type windowed interface{ Window() int }

// window returns the window of a model, 0 if nothing is known of it: what the
// configuration says, what the provider says, or what the name tells.
func (a *agents) window(model string) int {
	if n := a.cfg.Window(model); n > 0 {
		return n
	}
	if p, err := a.serve(model); err == nil {
		if w, ok := p.raw.(windowed); ok {
			return w.Window()
		}
	}
	return prompt.WindowOf(model)
}

func promptSettings(c config.Compaction) prompt.Settings {
	return prompt.Settings{Reserve: c.ReserveTokens, ReserveFloor: c.ReserveFloor, KeepRecent: c.KeepRecentTokens, Soft: c.SoftThreshold}
}

// promptSize returns what the next prompt of a thread takes, without what a
// message brings.
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
		conversation = turn.Begin(t, entries).Conversation
		return err
	})
	if err != nil {
		return chela.PromptSize{}, err
	}
	model := a.agents.model(s, chela.Inbound{})
	f, err := a.agents.frame(s.Agent)
	if err == nil {
		f, err = a.agents.told(ctx, s, f)
	}
	f.Window = a.agents.window(model)
	size := prompt.Breakdown(promptSettings(a.cfg.Compaction).Budget(f.Frame), f.Frame, conversation)
	size.Model = model
	return size, err
}

package agents

import (
	"context"

	"chela"
	"chela/internal/store"
)

// Names returns the names of the agents, including "main".
func (a *Agents) Names() []string { return a.cfg.Settings.AgentNames() }

// Check returns nil if an agent exists, else NotFound.
func (a *Agents) Check(name string) error { return a.cfg.Settings.CheckAgent(name) }

// Answerable returns nil if some model can answer a message: its own, the one of
// its session, or one of its agent.
func (a *Agents) Answerable(ctx context.Context, in chela.Inbound) error {
	err := a.cfg.Settings.Answerable(in.Agent, in.Model, a.cfg.Providers.Usable)
	if err == nil || in.Model != "" {
		return err
	}
	s, found := store.Get(ctx, a.cfg.Store, (*store.Read).Session, in.Session)
	if found == nil && s.Settings.Model != "" {
		err = a.cfg.Providers.Usable(s.Settings.Model)
	}
	return err
}

// Candidates returns the models that may answer a message, the first choice first.
func (a *Agents) Candidates(ctx context.Context, in chela.Inbound) ([]string, error) {
	s, err := store.Get(ctx, a.cfg.Store, (*store.Read).Session, in.Session)
	if chela.KindOf(err) == chela.NotFound {
		s, err = chela.Session{Key: in.Session, Agent: in.Agent}, nil
	}
	return a.cfg.Settings.ModelsOf(s.Agent, a.Model(s, in)), err
}

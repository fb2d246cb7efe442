package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
)

// A lister is a provider that can list its models.
type lister interface {
	Models(ctx context.Context) ([]chela.Model, error)
}

// anyModel is a placeholder if only the provider matters.
const anyModel = "any"

// A listing is the result of listing the models of one provider.
type listing struct {
	models []chela.Model
	away   *api.UnlistedProvider // the request failed, which should be logged
	err    error                 // from the configuration
}

// Models returns the models of every available provider, with their known
// properties. All providers are asked concurrently. The failure of one does not
// affect the others: it is marked as unavailable, and logged. An error is
// ctx's.
func (p *Providers) Models(ctx context.Context) (api.Models, error) {
	names := p.settings.ProviderNames()
	lists := ofEach(names, func(name string) listing { return p.listingOf(ctx, name) })
	models := api.Models{Items: []chela.Model{}}
	for _, l := range lists {
		if err := cmp.Or(ctx.Err(), l.err); err != nil {
			return api.Models{}, err
		}
		models.Items = append(models.Items, l.models...)
		if l.away != nil {
			models.Away = append(models.Away, *l.away)
		}
	}
	return models, nil
}

// ofEach calls ask for each name, concurrently.
func ofEach[T any](names []string, ask func(name string) T) []T {
	said := make([]T, len(names))
	var asking sync.WaitGroup
	for i, name := range names {
		asking.Go(func() { said[i] = ask(name) })
	}
	asking.Wait()
	return said
}

// listingOf returns the models of one provider.
func (p *Providers) listingOf(ctx context.Context, name string) (l listing) {
	settings, err := p.settings.Provider(name)
	if err != nil {
		l.err = err
		return l
	}
	s, err := p.serve(name + "/" + anyModel)
	if err != nil {
		return l // no key: the provider is unusable
	}
	list, ok := s.raws[0].(lister)
	if !ok {
		l.models = p.comingAlong(settings)
		return l
	}
	found, err := p.ask(ctx, name, list)
	if err != nil && ctx.Err() == nil && !p.mayBeAway(settings, err) {
		p.cfg.Log.Warn("listing the models of a provider failed", "provider", name, "error", err)
		l.away = &api.UnlistedProvider{Provider: name, Kind: chela.KindOf(err), Message: chela.MessageOf(err)}
	}
	for _, m := range found {
		l.models = append(l.models, p.known.Fill(m))
	}
	return l
}

// ask returns the models that a provider lists within its timeout. A timeout is
// a *chela.ProviderError, Unavailable.
func (p *Providers) ask(ctx context.Context, name string, list lister) ([]chela.Model, error) {
	within, cancel := context.WithTimeout(ctx, p.cfg.Listing)
	defer cancel()
	found, err := list.Models(within)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		return nil, &chela.ProviderError{
			Kind: chela.Unavailable, Provider: name, Msg: fmt.Sprintf("it did not list its models within %s", p.cfg.Listing),
		}
	}
	return found, err
}

// mayBeAway reports whether a provider that failed to list its models is an
// optional, unconfigured server on this machine. Another program may answer at
// its port.
func (p *Providers) mayBeAway(settings config.Provider, err error) bool {
	var failed *chela.ProviderError
	at, unknown := p.settings.Value("providers." + settings.Name + ".base_url")
	told := unknown != nil || at.Source != "default" && at.Source != "env OLLAMA_HOST"
	keyless := settings.Keyless || settings.Kind == config.ProviderOllama
	return keyless && !told && errors.As(err, &failed)
}

// comingAlong returns the models of a provider that is part of the program.
func (p *Providers) comingAlong(settings config.Provider) []chela.Model {
	if settings.Kind == config.ProviderOffline {
		return []chela.Model{p.known.Model(settings.Name + "/rules")}
	}
	return nil // the models of script are files
}

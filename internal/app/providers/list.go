package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/config/provider"
)

// A lister is a provider that can tell its models.
type lister interface {
	Models(ctx context.Context) ([]chela.Model, error)
}

// anyModel stands for a model where only the provider matters.
const anyModel = "any"

// A listing is what came of asking one provider for its models.
type listing struct {
	models []chela.Model
	away   *api.Away // it did not tell, and somebody ought to know
	err    error     // of the configuration
}

// Models returns the models of every provider that can be asked, with what is
// known of them. All are asked at once. What one does not tell, for whatever
// reason, leaves the others: it is away then, which the log is told too. An error
// is that of ctx.
func (p *Providers) Models(ctx context.Context) (api.Models, error) {
	names := p.settings.ProviderNames()
	lists := ofEach(names, func(name string) listing { return p.listing(ctx, name) })
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

// ofEach returns what ask says of each name. All are asked at once.
func ofEach[T any](names []string, ask func(name string) T) []T {
	said := make([]T, len(names))
	var asking sync.WaitGroup
	for i, name := range names {
		asking.Go(func() { said[i] = ask(name) })
	}
	asking.Wait()
	return said
}

// listing returns the models of one provider.
func (p *Providers) listing(ctx context.Context, name string) (l listing) {
	settings, err := p.settings.Provider(name)
	if err != nil {
		l.err = err
		return l
	}
	s, err := p.serve(name + "/" + anyModel)
	if err != nil {
		return l // no key: nothing of it can be used
	}
	list, ok := s.raws[0].(lister)
	if !ok {
		l.models = p.comingAlong(settings)
		return l
	}
	found, err := p.ask(ctx, name, list)
	if err != nil && ctx.Err() == nil && !p.mayBeAway(settings, err) {
		p.cfg.Log.Warn("provider did not list its models", "provider", name, "error", err)
		l.away = &api.Away{Provider: name, Kind: chela.KindOf(err), Message: chela.MessageOf(err)}
	}
	for _, m := range found {
		l.models = append(l.models, p.known.Fill(m))
	}
	return l
}

// ask returns the models that a provider tells within the time that it has for it.
// One that is too slow is a *chela.ProviderError, Unavailable.
func (p *Providers) ask(ctx context.Context, name string, list lister) ([]chela.Model, error) {
	within, cancel := context.WithTimeout(ctx, p.cfg.Listing)
	defer cancel()
	found, err := list.Models(within)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		return nil, &chela.ProviderError{
			Kind: chela.Unavailable, Provider: name, Msg: fmt.Sprintf("it did not tell its models within %s", p.cfg.Listing),
		}
	}
	return found, err
}

// mayBeAway reports whether a provider that did not list its models is a server
// that might be on this machine, and that nobody told chela of. Another program
// may answer at its port.
func (p *Providers) mayBeAway(settings config.Provider, err error) bool {
	var failed *chela.ProviderError
	at, unknown := p.settings.Value("providers." + settings.Name + ".base_url")
	told := unknown != nil || at.Source != "default" && at.Source != "env OLLAMA_HOST"
	keyless := settings.Keyless || settings.Kind == provider.Ollama
	return keyless && !told && errors.As(err, &failed)
}

// comingAlong returns the models of a provider that is part of the program.
func (p *Providers) comingAlong(settings config.Provider) []chela.Model {
	if settings.Kind == provider.Offline {
		return []chela.Model{p.known.Model(settings.Name + "/rules")}
	}
	return nil // the models of script are files
}

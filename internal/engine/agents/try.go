package agents

import (
	"context"
	"slices"
	"strings"

	"chela"
	"chela/internal/api"
	"chela/internal/model/catalogue"
)

// Try tests a model, as provider/model; without a name, the models of every
// configured provider. It fails only with ctx's error, or if there is no such
// provider: problems of a model are in its trial.
func (p *Providers) Try(ctx context.Context, _ api.Caller, q api.ModelTest) (trials api.Page[api.Trial], err error) {
	models := []string{q.Model}
	if q.Model == "" {
		models = p.candidates(ctx)
	} else if _, _, err := p.resolve(q.Model); err != nil && chela.KindOf(err) != chela.Denied {
		return trials, err
	}
	trials.Items = []api.Trial{}
	for _, name := range models {
		s, err := p.serve(name)
		if err == nil {
			p.learnPrice(ctx, name, s.raws[0])
		}
		subject := TrialSubject{Model: p.Model(name), Name: s.name, Err: err}
		for _, raw := range s.raws {
			subject.Keys = append(subject.Keys, p.metered(raw, name))
		}
		t, err := TryModel(ctx, subject, p.cfg.Now)
		if err != nil {
			return trials, err
		}
		trials.Items = append(trials.Items, t)
	}
	return trials, nil
}

// candidates returns the models in use, and a model of each other configured
// provider.
func (p *Providers) candidates(ctx context.Context) []string {
	models := p.settings.UsedModels()
	others := slices.DeleteFunc(p.settings.Configured(), func(name string) bool {
		return slices.ContainsFunc(models, func(m string) bool { return strings.HasPrefix(m, name+"/") })
	})
	return append(models, ofEach(others, func(name string) string { return name + "/" + p.oneOf(ctx, name) })...)
}

// oneOf returns the name of a model of a provider: the default for its key, a
// configured one, or the first in its list.
func (p *Providers) oneOf(ctx context.Context, provider string) string {
	for _, s := range catalogue.Services() {
		if s.Name == provider && s.Model != "" {
			return s.Model
		}
	}
	if written := p.known.Of(provider); len(written) > 0 {
		return written[0].Name
	}
	if s, err := p.serve(provider + "/" + anyModel); err == nil {
		if list, ok := s.raws[0].(lister); ok {
			if found, err := p.ask(ctx, provider, list); err == nil && len(found) > 0 {
				return found[0].Name
			}
		}
	}
	return anyModel // its trial reports the problem
}

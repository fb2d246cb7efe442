package providers

import (
	"context"
	"slices"
	"strings"

	"chela"
	"chela/internal/app/trial"
	"chela/internal/catalogue"
)

// Try tries a model out, as provider/model; without a name those of every
// provider that somebody set up. It fails only with ctx's error, or if there is
// no such provider: what is wrong with a model is in its trial.
func (p *Providers) Try(ctx context.Context, model string) ([]chela.Trial, error) {
	models := []string{model}
	if model == "" {
		models = p.candidates(ctx)
	} else if _, _, err := p.resolve(model); err != nil && chela.KindOf(err) != chela.Denied {
		return nil, err
	}
	var trials []chela.Trial
	for _, name := range models {
		subject := trial.Subject{Model: p.Model(name)}
		s, err := p.serve(name)
		subject.Name, subject.Err = s.name, err
		for _, raw := range s.raws {
			subject.Keys = append(subject.Keys, p.metered(raw, name))
		}
		t, err := trial.Of(ctx, subject, p.cfg.Now)
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	return trials, nil
}

// candidates returns the models that are used, and one of each other provider
// that somebody set up.
func (p *Providers) candidates(ctx context.Context) []string {
	models := p.settings.UsedModels()
	covered := map[string]bool{}
	for _, m := range models {
		name, _, _ := strings.Cut(m, "/")
		covered[name] = true
	}
	others := slices.DeleteFunc(p.settings.Configured(), func(name string) bool { return covered[name] })
	return append(models, ofEach(others, func(name string) string { return name + "/" + p.oneOf(ctx, name) })...)
}

// oneOf returns the name of a model of a provider: the one that is chosen for its
// key, one that is written down, or the first that it tells.
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
	return anyModel // its trial tells what is wrong
}

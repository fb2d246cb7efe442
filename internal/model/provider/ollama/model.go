package ollama

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// A model is the server's description of a model.
type model struct {
	window    int      // tokens of prompt and answer; 0 if unknown
	room      int      // num_ctx of its own settings; 0 for the server's default
	family    string   // such as "llama"
	abilities []string // "completion", "tools", "vision", "thinking", …; nil if not reported
	remote    bool     // runs on ollama.com
}

func (m model) can(ability string) bool { return slices.Contains(m.abilities, ability) }

// converses reports whether a model generates text. Embedding models do not.
func (m model) converses() bool { return m.abilities == nil || m.can("completion") }

// look returns the description of a model, cached after the first request.
func (p *Provider) look(ctx context.Context, name string) (model, error) {
	p.mu.Lock()
	m, ok := p.known[name]
	p.mu.Unlock()
	if ok {
		return m, nil
	}
	v, err := p.server.Object(ctx, "/api/show", map[string]string{"model": name})
	if err != nil {
		return model{}, err
	}
	m = readModel(v)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[name] = m
	return m, nil
}

// notice drops the cached description of a model if the server rejects a
// supported feature: the name may now belong to another model.
func (p *Provider) notice(name string, err error) error {
	switch chela.KindOf(err) {
	case chela.Invalid, chela.NotFound, chela.Unsupported:
		if !overflows(err) {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.known, name)
		}
	}
	return err
}

func overflows(err error) bool {
	pe, ok := errors.AsType[*chela.ProviderError](err)
	return ok && pe.Overflow
}

// readModel reads the response of /api/show. The window is in model_info under
// the architecture's name: {"general.architecture": "llama",
// "llama.context_length": 131072}.
func readModel(v wire.Value) model {
	m := model{
		family: v.Member("details").Member("family").Text(), abilities: v.Member("capabilities").Texts(),
		remote: v.Member("remote_host").Text() != "", room: modelParameter(v.Member("parameters").Text(), "num_ctx"),
	}
	for name, detail := range v.Member("model_info").Members() {
		if strings.HasSuffix(name, ".context_length") {
			m.window = int(min(max(detail.Int(), 0), 1<<30))
		}
	}
	return m
}

// modelParameter finds a parameter in a Modelfile's parameters, one per line.
func modelParameter(text, name string) int {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == name {
			n, err := strconv.Atoi(words[1])
			if err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}

// Context sizes.
const (
	leastRoom  = 8_192  // tokens; the built-in prompt and tools take half of it
	mostRoom   = 65_536 // tokens, for a model that reports neither its window nor a num_ctx
	usualReply = 4_096  // tokens reserved for an answer without an output limit
)

// Window returns the largest context of a model, in tokens of prompt and
// answer; 0 until the server was asked.
func (p *Provider) Window(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.known[name]; ok {
		return p.window(m)
	}
	return 0
}

// window returns the largest context that the server allocates for a model.
func (p *Provider) window(m model) int {
	most := cmp.Or(m.window, max(m.room, mostRoom))
	if p.most > 0 {
		most = min(most, p.most)
	}
	return most
}

// roomFor returns the num_ctx of a request. Ollama reserves memory for all of
// it when it loads a model, and reloads the model if it changes. So it is a
// power of two that holds the answer and the prompt, with a quarter to spare as
// tokenizers differ. It is at least the model's own setting, and at most its
// window.
func roomFor(m model, prompt, reply, window int) int {
	room := max(leastRoom, m.room)
	for room < prompt+prompt/4+cmp.Or(reply, usualReply) {
		room *= 2
	}
	return min(room, window)
}

// Models lists the installed models that generate text, the most recently
// changed first. Local models are free.
func (p *Provider) Models(ctx context.Context) ([]chela.Model, error) {
	var models []chela.Model
	for name, err := range p.names(ctx) {
		if err != nil {
			return nil, err
		}
		m, err := p.look(ctx, name)
		if err != nil {
			return nil, err
		}
		if m.converses() {
			models = append(models, p.describe(name, m))
		}
	}
	return models, nil
}

// names yields the names of the installed models.
func (p *Provider) names(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		v, err := p.server.Object(ctx, "/api/tags", nil)
		if err != nil {
			yield("", err)
			return
		}
		for item := range v.Member("models").Items() {
			if !yield(item.Member("name").Text(), nil) {
				return
			}
		}
	}
}

func (p *Provider) describe(name string, m model) chela.Model {
	d := chela.Model{Provider: p.server.Provider, Name: name, Window: m.window}
	if !m.remote {
		d.Price = &chela.Price{}
	}
	for _, a := range []struct {
		told string
		able []chela.Ability
	}{
		{"tools", []chela.Ability{chela.AbleTools, chela.AbleParallel}},
		{"vision", []chela.Ability{chela.AbleImages}},
		{"thinking", []chela.Ability{chela.AbleThinking}},
	} {
		if m.can(a.told) {
			d.Abilities = append(d.Abilities, a.able...)
		}
	}
	return d
}

// First returns the name of the first model that generates text and calls
// tools, else of the first that generates text. It returns NotFound if there is
// none.
func (p *Provider) First(ctx context.Context) (string, error) {
	first := ""
	for name, err := range p.names(ctx) {
		if err != nil {
			return "", err
		}
		m, err := p.look(ctx, name)
		switch {
		case err != nil:
			return "", err
		case m.can("tools"):
			return name, nil
		case m.converses():
			first = cmp.Or(first, name)
		}
	}
	if first == "" {
		return "", p.server.Error(chela.NotFound, "has no model that generates text")
	}
	return first, nil
}

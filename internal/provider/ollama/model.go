package ollama

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"chela"
	"chela/internal/provider/wire"
)

// A model is what the server tells of a model.
type model struct {
	window    int      // tokens of prompt and answer; 0 when not known
	room      int      // tokens for which its own settings make room; 0 for the server's default
	family    string   // such as "llama"
	abilities []string // "completion", "tools", "vision", "thinking", …; nil when not told
	remote    bool     // ollama.com runs it, not the machine
}

func (m model) can(ability string) bool { return slices.Contains(m.abilities, ability) }

// converses reports whether a model can be talked with. Some only embed texts.
func (m model) converses() bool { return m.abilities == nil || m.can("completion") }

// look returns what is known of a model; the server is asked once.
func (p *Provider) look(ctx context.Context, name string) (model, error) {
	p.mu.Lock()
	m, ok := p.known[name]
	p.mu.Unlock()
	if ok {
		return m, nil
	}
	v, err := p.ask(ctx, http.MethodPost, "/api/show", map[string]string{"model": name})
	if err != nil {
		return model{}, err
	}
	m = readModel(v)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[name] = m
	return m, nil
}

// notice forgets what is known of a model where the server refuses what should
// be possible: another model may have been given the name since.
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

// readModel reads what /api/show tells. The window stands in model_info under
// the name of the architecture: {"general.architecture": "llama",
// "llama.context_length": 131072}.
func readModel(v wire.Value) model {
	var m model
	for name, member := range v.Members() {
		switch name {
		case "capabilities":
			for item := range member.Items() {
				m.abilities = append(m.abilities, item.Text())
			}
		case "details":
			for name, detail := range member.Members() {
				if name == "family" {
					m.family = detail.Text()
				}
			}
		case "model_info":
			for name, detail := range member.Members() {
				if strings.HasSuffix(name, ".context_length") {
					m.window = number(detail)
				}
			}
		case "parameters":
			m.room = parameter(member.Text(), "num_ctx")
		case "remote_host":
			m.remote = member.Text() != ""
		}
	}
	return m
}

// number returns a number of tokens.
func number(v wire.Value) int { return int(min(max(v.Int(), 0), 1<<30)) }

// parameter finds a parameter in the text of a Modelfile's parameters, one on
// each line.
func parameter(text, name string) int {
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

// The room that is made for prompts.
const (
	leastRoom  = 8_192  // tokens; what chela itself says of its tools takes half of that
	mostRoom   = 65_536 // tokens, for a model that tells neither its window nor its own room
	usualReply = 4_096  // tokens kept free for an answer whose length is left open
)

// Window returns the tokens of prompt and answer for which there can be room with
// a model, 0 as long as it was not asked.
func (p *Provider) Window(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.known[name]; ok {
		return p.window(m)
	}
	return 0
}

// window returns the most tokens for which the server makes room.
func (p *Provider) window(m model) int {
	most := cmp.Or(m.window, max(m.room, mostRoom))
	if p.cfg.Window > 0 {
		most = min(most, p.cfg.Window)
	}
	return most
}

// roomFor returns the num_ctx of a request. Ollama reserves memory for all of
// it when it loads a model, and loads a model again for another number: so it
// is a power of two that holds the prompt with a quarter to spare, as tokenizers
// differ, and the answer. It is never less than the model's own settings say,
// nor more than its window.
func (p *Provider) roomFor(m model, prompt, reply int) int {
	room := max(leastRoom, m.room)
	for room < prompt+prompt/4+cmp.Or(reply, usualReply) {
		room *= 2
	}
	return min(room, p.window(m))
}

// grow makes room for twice as much, and reports false where that is more than
// the model can read.
func (p *Provider) grow(o *options, m model) bool {
	most := p.window(m)
	if o.NumCtx >= most {
		return false
	}
	o.NumCtx = min(2*o.NumCtx, most)
	return true
}

// Models lists the models that the server has and that can be talked with, the
// one that was changed last first. What the machine itself runs costs nothing.
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

// names yields the names of the models that the server has.
func (p *Provider) names(ctx context.Context) func(func(string, error) bool) {
	return func(yield func(string, error) bool) {
		v, err := p.ask(ctx, http.MethodGet, "/api/tags", nil)
		if err != nil {
			yield("", err)
			return
		}
		for name, list := range v.Members() {
			if name != "models" {
				continue
			}
			for item := range list.Items() {
				if !yield(nameOf(item), nil) {
					return
				}
			}
		}
	}
}

func nameOf(v wire.Value) string {
	for name, member := range v.Members() {
		if name == "name" {
			return member.Text()
		}
	}
	return ""
}

func (p *Provider) describe(name string, m model) chela.Model {
	d := chela.Model{Provider: p.cfg.Name, Name: name, Window: m.window}
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

// First returns the name of the first model that can be talked with and calls
// tools, or else of the first that can be talked with. A server without any is
// a NotFound error.
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
		return "", p.guard.Error(chela.NotFound, "has no model that can be talked with")
	}
	return first, nil
}

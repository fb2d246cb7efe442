// Package catalogue knows models and those who serve them: what a model's
// window is, how long its answers may be, what it can do and what it takes;
// under which address a service is reached, where its key is found, and what it
// does not understand of its protocol.
//
// The facts are in models.toml and services.toml, each row with its source and
// the date on which that was read. A home lays its own models.toml, of the same
// form, and the [models] sections of its config.toml above them. What is not
// known is left open: nothing here is guessed.
package catalogue

import (
	_ "embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"chela"
)

// What is assumed of a model that nothing is known about, where the home does
// not say otherwise. The amounts are for a million tokens.
const (
	DefaultWindow    = 100_000 // tokens of prompt and answer
	DefaultMaxOutput = 4_096   // tokens of an answer
	DefaultInput     = 10 * chela.USD
	DefaultOutput    = 30 * chela.USD
)

// A Row is what one source says of a model. What it leaves open is 0 or nil.
// Prices are for a million tokens.
type Row struct {
	Window    int // tokens of prompt and answer
	MaxOutput int // tokens of an answer

	Input, Output         *chela.MicroUSD
	CacheRead, CacheWrite *chela.MicroUSD

	// LongFrom is the number of prompt tokens from which on the whole call
	// costs the Long rates.
	LongFrom                      int
	LongInput, LongOutput         *chela.MicroUSD
	LongCacheRead, LongCacheWrite *chela.MicroUSD

	Abilities []chela.Ability
	Source    string // where that was read
}

// The names of what a [chela.Model] has a source of.
const (
	FieldWindow    = "window"
	FieldMaxOutput = "max_output"
	FieldPrice     = "price"
	FieldAbilities = "abilities"
)

// A Catalogue knows models. It is not changed once it is made, and may be used
// by several goroutines at once.
type Catalogue struct {
	layers []layer // the one that counts first comes first
}

// A layer is what one file says of models, by provider/model.
type layer map[string]Row

//go:embed models.toml
var modelsFile []byte

// known is the catalogue that comes with the program.
var known = sync.OnceValue(func() layer {
	rows, err := read(modelsFile)
	if err != nil {
		panic(fmt.Sprintf("models.toml of the program: %v", err))
	}
	for name, r := range rows {
		r.Source = "catalogue, " + r.Source
		rows[name] = r
	}
	return rows
})

// Load returns the catalogue that comes with the program with the text of a
// home's models.toml laid over it, which may be empty. A text that cannot be
// read is an Invalid error that says in which line.
func Load(override []byte) (*Catalogue, error) {
	c := &Catalogue{layers: []layer{known()}}
	rows, err := read(override)
	if err != nil {
		return nil, err
	}
	for name, r := range rows {
		r.Source = strings.TrimSuffix("models.toml, "+r.Source, ", ")
		rows[name] = r
	}
	return c.With(rows), nil
}

// With returns a catalogue in which rows, by provider/model, count before what c
// knows.
func (c *Catalogue) With(rows map[string]Row) *Catalogue {
	return &Catalogue{layers: append([]layer{rows}, c.layers...)}
}

// Model returns what is known of a model and where each value is from. A name
// with a date or a version behind it, as in claude-haiku-4-5-20251001, is that
// of the model without it, unless it is listed itself. The price is nil when it
// is not known; see [chela.Price] for what costs nothing.
//
// Who is not listed with a model, such as a proxy or Bedrock, serves what its
// maker does: the window and the abilities are the same then, not the price.
func (c *Catalogue) Model(provider, name string) (chela.Model, bool) {
	m := chela.Model{Provider: provider, Name: name}
	found := false
	for _, l := range c.layers {
		r, ok := l.row(provider, name)
		if !ok {
			r, ok = l.elsewhere(name)
		}
		if ok {
			r.fill(&m)
			found = true
		}
	}
	return m, found
}

// Models returns all models that are listed, sorted by provider and name.
func (c *Catalogue) Models() []chela.Model {
	names := map[string]bool{}
	for _, l := range c.layers {
		for name := range l {
			names[name] = true
		}
	}
	models := make([]chela.Model, 0, len(names))
	for name := range names {
		provider, rest, _ := strings.Cut(name, "/")
		m, _ := c.Model(provider, rest)
		models = append(models, m)
	}
	slices.SortFunc(models, func(a, b chela.Model) int {
		return strings.Compare(a.Provider+"/"+a.Name, b.Provider+"/"+b.Name)
	})
	return models
}

// row returns what a layer says of a model, by its name or the name without
// date.
func (l layer) row(provider, name string) (Row, bool) {
	for ; name != ""; name = undated(name) {
		if r, ok := l[provider+"/"+name]; ok {
			return r, true
		}
	}
	return Row{}, false
}

// makers are those who serve the models that they made.
var makers = []string{"anthropic", "openai", "gemini", "mistral", "deepseek", "xai"}

// elsewhere returns what a layer says of a model at its maker, by the end of its
// name: claude-haiku-4-5 for us.anthropic.claude-haiku-4-5-20251001-v1:0 and for
// anthropic/claude-haiku-4-5.
func (l layer) elsewhere(name string) (Row, bool) {
	name = revision.ReplaceAllString(path.Base(name), "")
	for {
		for _, maker := range makers {
			r, ok := l.row(maker, name)
			if !ok {
				r, ok = l.row(maker, strings.ReplaceAll(name, ".", "-")) // as OpenRouter writes versions
			}
			if ok {
				return Row{Window: r.Window, MaxOutput: r.MaxOutput, Abilities: r.Abilities, Source: r.Source}, true
			}
		}
		_, rest, more := strings.Cut(name, ".")
		if !more {
			return Row{}, false
		}
		name = rest
	}
}

// fill puts into m what is open there and known here. A price is whole: no rate of
// another source goes with it.
func (r Row) fill(m *chela.Model) {
	if m.Window == 0 && r.Window > 0 {
		m.Window = r.Window
		note(m, FieldWindow, r.Source)
	}
	if m.MaxOutput == 0 && r.MaxOutput > 0 {
		m.MaxOutput = r.MaxOutput
		note(m, FieldMaxOutput, r.Source)
	}
	if m.Price == nil && r.Input != nil && r.Output != nil {
		m.Price = r.price()
		note(m, FieldPrice, r.Source)
	}
	if m.Abilities == nil && r.Abilities != nil {
		m.Abilities = r.Abilities
		note(m, FieldAbilities, r.Source)
	}
}

// note says where a value of m is from.
func note(m *chela.Model, field, source string) {
	if m.Sources == nil {
		m.Sources = map[string]string{}
	}
	m.Sources[field] = source
}

// Lacks returns what a row that has a rate lacks to be a price, "input" or
// "output", or "" if it is one or says nothing of it.
func (r Row) Lacks() string {
	says := r.LongFrom > 0
	for _, rate := range []*chela.MicroUSD{r.Input, r.Output, r.CacheRead, r.CacheWrite} {
		says = says || rate != nil
	}
	switch {
	case says && r.Input == nil:
		return "input"
	case says && r.Output == nil:
		return "output"
	default:
		return ""
	}
}

// price returns the price of a row that has one. Tokens of the prompt cache
// whose rate is not known cost what others cost.
func (r Row) price() *chela.Price {
	rates := func(input, output, read, write *chela.MicroUSD) chela.Rates {
		at := func(rate *chela.MicroUSD) chela.MicroUSD {
			if rate == nil {
				return *input
			}
			return *rate
		}
		return chela.Rates{Input: *input, Output: *output, CacheRead: at(read), CacheWrite: at(write)}
	}
	p := &chela.Price{Rates: rates(r.Input, r.Output, r.CacheRead, r.CacheWrite)}
	if r.LongFrom > 0 && r.LongInput != nil && r.LongOutput != nil {
		p.LongFrom = int64(r.LongFrom)
		p.Long = rates(r.LongInput, r.LongOutput, r.LongCacheRead, r.LongCacheWrite)
	}
	return p
}

// invalid turns what the decoder says into an Invalid error of a file.
func invalid(file string, err error) error {
	line, why := 1, strings.TrimPrefix(err.Error(), "toml: ")
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ = at.Position()
	}
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		line, _ = strict.Errors[0].Position()
		why = "unknown key " + strings.Join(strict.Errors[0].Key(), ".")
	}
	return chela.E(chela.Invalid, fmt.Sprintf("%s:%d: %s", file, line, why)).
		WithHint("mend that line; rows are written as [models.\"provider/name\"], see docs/models.md")
}

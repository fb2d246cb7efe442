package offline

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
)

// Kind is the kind of this provider.
const Kind = "offline"

// Model is the name of the only model.
const Model = "rules"

// Config holds the options of the provider; the zero value works.
type Config struct {
	Name string // configured name, for errors; "offline" if empty
}

// A Provider answers by rules. It is safe for concurrent use.
type Provider struct {
	name string
}

// New returns a provider.
func New(cfg Config) *Provider {
	return &Provider{name: cmp.Or(cfg.Name, Kind)}
}

// Stream answers req, as [chela.Provider] specifies, with the calls of the next
// step or with text. The answer is a pure function of req. It returns Invalid
// for a request without a user message.
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(chela.Chunk{}, err)
			return
		}
		m, ok := newest(req.Messages)
		if !ok {
			yield(chela.Chunk{}, &chela.ProviderError{Provider: p.name, Kind: chela.Invalid, Unpaid: true, Msg: "the request has no user message"})
			return
		}
		f := answer(req, &m)
		f.Usage = m.usage(req.System, f)
		for piece := range words(f.Text, req.Plain) {
			if err := ctx.Err(); err != nil {
				yield(chela.Chunk{}, err)
				return
			}
			if !yield(chela.Chunk{Text: piece}, nil) {
				return
			}
		}
		yield(chela.Chunk{Finish: f}, nil)
	}
}

// answer decides the next step and returns it as a finish.
func answer(req *chela.Request, m *moment) *chela.Finish {
	f := &chela.Finish{Model: cmp.Or(req.Model, Model), Stop: chela.StopEnd}
	pl := understand(m.said)
	if actions := pl.next(m); len(actions) > 0 {
		f.Calls = calls(actions, m, req.Tools)
	}
	if len(f.Calls) > 0 {
		f.Stop = chela.StopCalls
		return f
	}
	f.Text = strings.ToValidUTF8(pl.report(m, req.Tools), "\ufffd")
	if limit := 4 * req.MaxTokens; limit > 0 && limit < len(f.Text) {
		f.Text, f.Stop = excerpt.Bytes(f.Text, limit), chela.StopLength
	}
	return f
}

// calls builds the calls of the actions whose tools are offered.
func calls(actions []action, m *moment, tools []chela.ToolSpec) []chela.CallSpec {
	var specs []chela.CallSpec
	for i, a := range actions {
		if !offered(tools, a.tool) {
			continue
		}
		specs = append(specs, chela.CallSpec{
			Ref:  fmt.Sprintf("call_%d_%d", m.place, i),
			Tool: a.tool,
			Args: a.arguments(m),
		})
	}
	return specs
}

func offered(tools []chela.ToolSpec, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// words yields text in small pieces: each word with its trailing spaces.
func words(text string, whole bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			n := len(text)
			if !whole {
				n = wordEnd(text)
			}
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

// wordEnd returns the length of the first word of text and the spaces around
// it. Words longer than 64 bytes are split at a rune boundary.
func wordEnd(text string) int {
	const longest = 64
	n := strings.IndexFunc(text, func(r rune) bool { return !isSpace(r) })
	if n < 0 {
		return len(text)
	}
	for i, r := range text[n:] {
		if isSpace(r) {
			return n + i + 1
		}
		if i > longest {
			return n + i
		}
	}
	return len(text)
}

func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }

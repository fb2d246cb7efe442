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

// Stream answers req, as [chela.Provider] specifies, with the calls of the newest
// messages or with text. The answer is a pure function of req. It returns Invalid
// for a request without a user message.
func (p *Provider) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(chela.Chunk{}, err)
			return
		}
		pl, ok := planOf(req.Messages)
		if !ok {
			yield(chela.Chunk{}, &chela.ProviderError{Provider: p.name, Kind: chela.Invalid, Unpaid: true, Msg: "the request has no user message"})
			return
		}
		f := pl.answer(req)
		pieces := strings.SplitAfter(f.Text, " ")
		if req.Plain {
			pieces = []string{f.Text}
		}
		for _, piece := range pieces {
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

// answer returns the calls of the plan or, once they were made, the report.
func (p *plan) answer(req *chela.Request) *chela.Finish {
	f := &chela.Finish{Model: cmp.Or(req.Model, Model), Stop: chela.StopEnd}
	out := 0
	if len(p.done) == 0 {
		for i, a := range p.actions {
			if offered(req.Tools, a.tool) {
				f.Calls = append(f.Calls, chela.CallSpec{Ref: fmt.Sprintf("call_%d_%d", p.place, i), Tool: a.tool, Args: a.json()})
				out += len(a.tool) + len(f.Calls[len(f.Calls)-1].Args)
			}
		}
	}
	if len(f.Calls) > 0 {
		f.Stop = chela.StopCalls
	} else {
		f.Text = strings.ToValidUTF8(p.report(req.Tools), "\ufffd")
		if limit := 4 * req.MaxTokens; limit > 0 && limit < len(f.Text) {
			f.Text, f.Stop = excerpt.Bytes(f.Text, limit), chela.StopLength
		}
	}
	// An estimate of four bytes per token. Input counts only the messages that the
	// rules read, not the whole prompt.
	f.Usage = chela.TokenUsage{Input: int64(len(req.System)+p.bytes+3) / 4, Output: int64(out+len(f.Text)+3) / 4}
	return f
}

func offered(tools []chela.ToolSpec, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

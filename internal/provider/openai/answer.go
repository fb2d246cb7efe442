package openai

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"strings"

	"chela"
	"chela/internal/catalogue"
	"chela/internal/provider/openaiapi"
	"chela/internal/provider/wire"
)

// kind marks the thinking that this protocol brings.
const kind = "openai"

// An answer is put together from the pieces of a stream.
type answer struct {
	text, thinking strings.Builder
	calls          []*call
	at             map[int64]*call // by the index that the server gives
	details        details
	refused        bool
	finish         string // finish_reason, once it came
	model          string
	usage          chela.TokenUsage
}

type call struct {
	id, name string
	args     strings.Builder
}

// readStream reads an answer in pieces. It is whole once a reason to finish or
// the mark [DONE] came: some servers leave out the one, some the other.
func (p *Provider) readStream(ctx context.Context, res *http.Response, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	events := openaiapi.Events(res)
	a := answer{at: map[int64]*call{}}
	done := false
	for !done && events.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		raw := events.Event().Data
		if done = bytes.HasPrefix(raw, []byte("[DONE]")); done {
			break
		}
		chunk, err := p.guard.Event(raw)
		if err != nil {
			return nil, err
		}
		if !a.add(chunk, emit) {
			return nil, nil
		}
	}
	if !done && a.finish == "" {
		return nil, p.guard.Cut(ctx, events.Err())
	}
	return p.whole(&a)
}

// add takes a piece and reports whether more is wanted.
func (a *answer) add(chunk wire.Value, emit func(chela.Chunk) bool) bool {
	var choices wire.Value
	for name, v := range chunk.Members() {
		switch {
		case name == "model" && a.model == "":
			a.model = v.Text()
		case name == "choices":
			choices = v
		case name == "usage" && v.IsObject():
			a.usage = usage(v)
		}
	}
	for v := range choices.Items() {
		c := readChoice(v)
		if c.index != 0 {
			continue // one was asked for
		}
		a.finish = cmp.Or(c.finish, a.finish)
		a.refused = a.refused || c.refusal != ""
		unseen := a.details.add(c.details)
		for _, piece := range c.calls {
			a.call(piece.index, piece.id, piece.name).args.WriteString(piece.args)
			unseen += len(piece.name) + len(piece.args)
		}
		a.thinking.WriteString(c.thinking)
		a.text.WriteString(c.text)
		a.text.WriteString(c.refusal)
		if !emit(chela.Chunk{Thinking: c.thinking}) || !emit(chela.Chunk{Text: c.text + c.refusal}) || !emit(chela.Chunk{Unseen: unseen}) {
			return false
		}
	}
	return true
}

// call returns the call that a piece belongs to. A new id begins a new call
// even at an index that was used: some servers give every call the same.
func (a *answer) call(index int64, id, name string) *call {
	c := a.at[index]
	if c == nil || id != "" && c.id != "" && c.id != id {
		c = &call{}
		a.at[index] = c
		a.calls = append(a.calls, c)
	}
	c.id = cmp.Or(c.id, id)
	c.name = cmp.Or(c.name, name)
	return c
}

// readPlain reads an answer in one piece.
func (p *Provider) readPlain(ctx context.Context, res *http.Response, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	whole, err := p.guard.ReadObject(ctx, res.Body)
	if err != nil {
		return nil, err
	}
	a, ok := plainAnswer(whole)
	if !ok {
		if told, ok := p.guard.Told(whole); ok {
			return nil, told
		}
		return nil, p.guard.Unreadable("sent an answer without choices")
	}
	if !emit(chela.Chunk{Thinking: a.thinking.String()}) || !emit(chela.Chunk{Text: a.text.String()}) {
		return nil, nil
	}
	return p.whole(a)
}

// plainAnswer returns an answer that came in one piece; false if it has no
// choices.
func plainAnswer(whole wire.Value) (*answer, bool) {
	var a answer
	chosen := false
	for name, v := range whole.Members() {
		switch name {
		case "model":
			a.model = v.Text()
		case "usage":
			a.usage = usage(v)
		case "choices":
			for first := range v.Items() {
				a.choose(readChoice(first))
				chosen = true
				break
			}
		}
	}
	return &a, chosen
}

// choose takes a choice that came in one piece.
func (a *answer) choose(c choice) {
	a.refused = c.refusal != ""
	a.finish = c.finish
	a.details.add(c.details)
	a.thinking.WriteString(c.thinking)
	a.text.WriteString(c.text + c.refusal)
	for _, piece := range c.calls {
		made := &call{id: piece.id, name: piece.name}
		made.args.WriteString(piece.args)
		a.calls = append(a.calls, made)
	}
}

// whole returns the finish of a complete answer.
func (p *Provider) whole(a *answer) (*chela.Finish, error) {
	if a.finish == "error" || a.finish == "insufficient_system_resource" {
		// OpenRouter and DeepSeek report so that the model's server broke off.
		return nil, p.guard.Unreadable("the model's server broke off")
	}
	f := &chela.Finish{Text: a.text.String(), Model: a.model, Usage: a.usage}
	if !p.quirks.adds(catalogue.FeatureReasoningDetails) {
		a.details = nil
	}
	if a.thinking.Len() > 0 || len(a.details) > 0 {
		f.Thinking = []chela.Thinking{{Text: a.thinking.String(), Signature: a.details.String(), Provider: kind}}
	}
	for _, c := range a.calls {
		f.Calls = append(f.Calls, wire.Call(c.id, c.name, c.args.String()))
	}
	f.Calls = wire.Calls(f.Calls)
	f.Stop = stop(a)
	return f, nil
}

// stop maps finish_reason. Besides the documented words it knows those that
// compatible servers pass on from elsewhere.
func stop(a *answer) chela.StopReason {
	switch a.finish {
	case "length", "max_tokens", "model_length", "model_context_window_exceeded":
		return chela.StopLength
	case "content_filter", "refusal", "safety", "SAFETY":
		return chela.StopRefusal
	}
	switch {
	case len(a.calls) > 0:
		return chela.StopCalls
	case a.refused:
		return chela.StopRefusal
	default:
		return chela.StopEnd
	}
}

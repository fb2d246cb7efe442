package openai

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"strings"

	"chela"
	"chela/internal/model/catalogue"
	"chela/internal/model/provider/wire"
)

// kind tags the thinking blocks of this protocol.
const kind = "openai"

// An answer accumulates the pieces of a stream.
type answer struct {
	text, thinking strings.Builder
	calls          []*call
	at             map[int64]*call // by the server's index
	details        details
	refused        bool
	finish         string // finish_reason, once it arrived
	logprobs       []byte // items of the list, each followed by a comma
	model          string
	usage          chela.TokenUsage
	billed         *chela.MicroUSD
	think          thinkSplitter
	others         []*answer // further choices
}

// newAnswer returns an empty answer for a request, with its choices.
func newAnswer(req *chela.Request) *answer {
	a := &answer{at: map[int64]*call{}}
	if s := req.Sampling; s != nil {
		for len(a.others) < s.Choices-1 {
			a.others = append(a.others, &answer{at: map[int64]*call{}})
		}
	}
	return a
}

type call struct {
	id, name string
	args     strings.Builder
}

// readStream reads a streamed answer. It is complete once a finish reason or
// [DONE] arrived, as some servers omit either.
func (p *Provider) readStream(ctx context.Context, res *http.Response, a *answer, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	var broken error
	done := false
	for raw, err := range wire.Events(res.Body) {
		if broken = err; err != nil {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if done = bytes.HasPrefix(raw, []byte("[DONE]")); done {
			break
		}
		chunk, err := p.guard.Event(bytes.Clone(raw)) // parts of it are retained
		if err != nil {
			return nil, err
		}
		if !a.add(chunk, emit) {
			return nil, nil
		}
	}
	if !done && a.finish == "" {
		return nil, p.guard.Cut(ctx, broken)
	}
	if !a.flush(emit) {
		return nil, nil
	}
	return p.whole(a)
}

// add applies a piece and reports whether to continue.
func (a *answer) add(chunk wire.Value, emit func(chela.Chunk) bool) bool {
	var choices wire.Value
	for name, v := range chunk.Members() {
		switch {
		case name == "model" && a.model == "":
			a.model = v.Text()
		case name == "choices":
			choices = v
		case name == "usage" && v.IsObject():
			a.usage, a.billed = usage(v), billed(v)
		case name == "x_groq" && v.Member("usage").IsObject():
			a.usage = usage(v.Member("usage"))
		}
	}
	for v := range choices.Items() {
		c := readChoice(v)
		if c.index != 0 {
			if c.index > int64(len(a.others)) || c.index < 0 {
				continue // it was not requested
			}
			unseen := a.others[c.index-1].take(c) + len(c.thinking) + len(c.text) + len(c.refusal)
			if !emit(chela.Chunk{Unseen: unseen}) {
				return false
			}
			continue
		}
		c.thinking, c.text = a.think.split(c.thinking, c.text)
		unseen := a.take(c)
		if !emit(chela.Chunk{Thinking: c.thinking}) || !emit(chela.Chunk{Text: c.text + c.refusal}) || !emit(chela.Chunk{Unseen: unseen}) {
			return false
		}
	}
	return true
}

// flush applies text that was held back as a possible tag, and reports whether to
// continue.
func (a *answer) flush(emit func(chela.Chunk) bool) bool {
	thinking, text := a.think.rest()
	a.thinking.WriteString(thinking)
	a.text.WriteString(text)
	return emit(chela.Chunk{Thinking: thinking}) && emit(chela.Chunk{Text: text})
}

// take applies a piece of a choice. It returns the number of bytes that are not
// shown.
func (a *answer) take(c choice) (unseen int) {
	a.finish = cmp.Or(c.finish, a.finish)
	a.refused = a.refused || c.refusal != ""
	unseen = a.details.add(c.details)
	for _, piece := range c.calls {
		a.call(piece.index, piece.id, piece.name).args.WriteString(piece.args)
		unseen += len(piece.name) + len(piece.args)
	}
	for _, item := range c.logprobs {
		a.logprobs = append(append(a.logprobs, ','), item...)
	}
	a.thinking.WriteString(c.thinking)
	a.text.WriteString(c.text)
	a.text.WriteString(c.refusal)
	return unseen
}

// call returns the call that a piece belongs to. A new id begins a new call
// even at a used index, as some servers give every call the same index.
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

// readPlain reads an answer that is not streamed.
func (p *Provider) readPlain(ctx context.Context, res *http.Response, a *answer, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	whole, err := p.guard.ReadObject(ctx, res.Body)
	if err != nil {
		return nil, err
	}
	if !a.read(whole) {
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

// read reads an unstreamed answer; false if it has no choices. Choices that
// were not requested are ignored.
func (a *answer) read(whole wire.Value) bool {
	next := 0
	for name, v := range whole.Members() {
		switch name {
		case "model":
			a.model = v.Text()
		case "usage":
			a.usage, a.billed = usage(v), billed(v)
		case "choices":
			for item := range v.Items() {
				switch {
				case next == 0:
					a.choose(readChoice(item))
				case next <= len(a.others):
					a.others[next-1].choose(readChoice(item))
				}
				next++
			}
		}
	}
	a.others = a.others[:min(len(a.others), max(next-1, 0))]
	return next > 0
}

// choose reads an unstreamed choice.
func (a *answer) choose(c choice) {
	a.refused = c.refusal != ""
	a.finish = c.finish
	a.details.add(c.details)
	var think thinkSplitter
	thinking, text := think.split(c.thinking, c.text)
	restThinking, restText := think.rest()
	a.thinking.WriteString(thinking + restThinking)
	a.text.WriteString(text + restText + c.refusal)
	for _, piece := range c.calls {
		made := &call{id: piece.id, name: piece.name}
		made.args.WriteString(piece.args)
		a.calls = append(a.calls, made)
	}
	for _, item := range c.logprobs {
		a.logprobs = append(append(a.logprobs, ','), item...)
	}
}

// maxLogprobs bounds the log probabilities of one choice, in bytes.
const maxLogprobs = 8 << 20

// whole returns the finish of a complete answer.
func (p *Provider) whole(a *answer) (*chela.Finish, error) {
	if a.finish == "error" || a.finish == "insufficient_system_resource" {
		// OpenRouter and DeepSeek report a failure of the upstream server in
		// this way.
		return nil, p.guard.Unreadable("the model's server aborted the answer")
	}
	f := &chela.Finish{Text: a.text.String(), Model: a.model, Usage: a.usage}
	if p.quirks.adds(catalogue.FeatureUsageCost) {
		f.Billed = a.billed
	}
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
	if len(a.logprobs) > maxLogprobs {
		return nil, p.guard.Unreadable("sent too many log probabilities")
	}
	if len(a.logprobs) > 0 {
		f.Logprobs = append(append([]byte(`{"content":[`), a.logprobs[1:]...), `],"refusal":null}`...)
	}
	for _, o := range a.others {
		other, err := p.whole(o)
		if err != nil {
			return nil, err
		}
		f.Others = append(f.Others, *other)
	}
	return f, nil
}

// stop maps finish_reason, including undocumented values that compatible
// servers pass through.
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

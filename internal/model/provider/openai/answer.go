package openai

import (
	"cmp"
	"strings"

	"chela"
	"chela/internal/model/catalogue"
	"chela/internal/model/provider/wire"
)

// kind tags the thinking blocks of this protocol.
const kind = "openai"

// An answer accumulates the pieces of a stream, or of one choice. It is the
// Answer of a [wire.Request].
type answer struct {
	p              *Provider
	plain          bool
	done           bool // the end mark arrived, or a plain answer
	text, thinking strings.Builder
	calls          []*call
	at             map[int64]*call // by the server's index
	details        details
	refused        bool
	finish         string    // finish_reason, once it arrived
	logprobs       wire.JSON // items of the list, each followed by a comma
	model          string
	usage          chela.TokenUsage
	billed         *chela.MicroUSD
	think          thinkSplitter
	others         []*answer // further choices
}

// newAnswer returns an empty answer for a request, with its choices.
func newAnswer(p *Provider, req *chela.Request) *answer {
	a := &answer{p: p, plain: req.Plain, at: map[int64]*call{}}
	if s := req.Sampling; s != nil {
		for len(a.others) < s.Choices-1 {
			a.others = append(a.others, &answer{p: p, at: map[int64]*call{}})
		}
	}
	return a
}

type call struct {
	id, name string
	args     strings.Builder
}

// Add applies an event, or a whole answer. Choices that were not requested are
// ignored; those of a plain answer are told apart by their place.
func (a *answer) Add(chunk wire.Value, emit wire.EmitFunc) {
	a.done = a.done || chunk == nil
	var choices wire.Value
	for name, v := range chunk.Members() {
		switch {
		case name == "model":
			a.model = cmp.Or(a.model, v.Text())
		case name == "choices":
			choices = v
		case name == "usage" && v.IsObject():
			a.usage, a.billed = usage(v), billed(v)
		case name == "x_groq" && v.Member("usage").IsObject():
			a.usage = usage(v.Member("usage"))
		}
	}
	place := 0
	for v := range choices.Items() {
		c := readChoice(v)
		if a.plain {
			c.index, a.done = int64(place), true
		}
		place++
		switch {
		case c.index == 0:
			thinking, text, unseen := a.take(c)
			emit(chela.Chunk{Thinking: thinking})
			emit(chela.Chunk{Text: text})
			emit(chela.Chunk{Unseen: unseen})
		case c.index > 0 && c.index <= int64(len(a.others)):
			thinking, text, unseen := a.others[c.index-1].take(c)
			emit(chela.Chunk{Unseen: len(thinking) + len(text) + unseen})
		}
	}
	if a.plain {
		a.others = a.others[:min(len(a.others), max(place-1, 0))]
	}
}

// take applies a piece of a choice. It returns the reasoning and the text of it, and
// the number of bytes that are neither.
func (a *answer) take(c choice) (thinking, text string, unseen int) {
	a.finish = cmp.Or(c.finish, a.finish)
	a.refused = a.refused || c.refusal != ""
	unseen = a.details.add(c.details)
	for _, piece := range c.calls {
		a.call(piece.index, piece.id, piece.name).args.WriteString(piece.args)
		unseen += len(piece.name) + len(piece.args)
	}
	for _, item := range c.logprobs {
		a.logprobs.Bytes("", item).Raw(",")
	}
	thinking, text = a.think.split(c.thinking, c.text)
	text += c.refusal
	a.say(thinking, text)
	return thinking, text, unseen
}

func (a *answer) say(thinking, text string) {
	a.thinking.WriteString(thinking)
	a.text.WriteString(text)
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

// Progress returns how much has arrived. An answer is complete once a finish reason or
// [DONE] arrived, as some servers omit either.
func (a *answer) Progress() wire.Progress { return wire.ProgressOf(a.done || a.finish != "", a.done) }

// maxLogprobs bounds the log probabilities of one choice, in bytes.
const maxLogprobs = 8 << 20

// Finish returns the finish of the answer.
func (a *answer) Finish(emit wire.EmitFunc) (*chela.Finish, error) {
	thinking, text := a.think.rest() // it might have been a tag
	a.say(thinking, text)
	emit(chela.Chunk{Thinking: thinking})
	emit(chela.Chunk{Text: text})
	if a.finish == "error" || a.finish == "insufficient_system_resource" {
		// OpenRouter and DeepSeek report a failure of the upstream server in
		// this way.
		return nil, a.p.server.Unreadable("the model's server aborted the answer")
	}
	if len(a.logprobs) > maxLogprobs {
		return nil, a.p.server.Unreadable("sent too many log probabilities")
	}
	f := &chela.Finish{Text: a.text.String(), Model: a.model, Usage: a.usage}
	if a.p.quirks.adds(catalogue.FeatureUsageCost) {
		f.Billed = a.billed
	}
	if !a.p.quirks.adds(catalogue.FeatureReasoningDetails) {
		a.details = nil
	}
	if a.thinking.Len() > 0 || len(a.details) > 0 {
		f.Thinking = []chela.Thinking{{Text: a.thinking.String(), Signature: a.details.String(), Provider: kind}}
	}
	for _, c := range a.calls {
		f.Calls = append(f.Calls, wire.Call(c.id, c.name, c.args.String()))
	}
	if len(a.logprobs) > 0 {
		var j wire.JSON
		f.Logprobs = []byte(*j.Bytes(`{"content":[`, a.logprobs).End(`],"refusal":null}`))
	}
	for _, o := range a.others {
		other, err := o.Finish(func(chela.Chunk) {})
		if err != nil {
			return nil, err
		}
		f.Others = append(f.Others, *other)
	}
	told := stops[a.finish]
	if told == "" && a.refused && len(f.Calls) == 0 {
		told = chela.StopRefusal
	}
	return wire.Finish(f, told), nil
}

// stops maps finish_reason, including undocumented values that compatible
// servers pass through, unless it follows from the calls.
var stops = map[string]chela.StopReason{
	"length": chela.StopLength, "max_tokens": chela.StopLength, "model_length": chela.StopLength, "model_context_window_exceeded": chela.StopLength,
	"content_filter": chela.StopRefusal, "refusal": chela.StopRefusal, "safety": chela.StopRefusal, "SAFETY": chela.StopRefusal,
}

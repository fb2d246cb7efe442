package anthropic

import (
	"chela"
	"chela/internal/model/provider/wire"
)

// An answer accumulates the events of a stream. It is the Answer
// of a [wire.Request].
type answer struct {
	wire.Blocks
	model string
	stop  string // stop_reason, once it arrived
	ended bool
	usage chela.TokenUsage
}

// Add applies an event, or a whole answer. Events of unknown types, such as ping,
// are ignored.
func (a *answer) Add(event wire.Value, emit wire.EmitFunc) {
	var kind string
	var index int64
	var content wire.Value
	for name, v := range event.Members() {
		switch name {
		case "type":
			kind = v.Text()
		case "index":
			index = v.Int()
		case "message", "content_block", "delta":
			content = v
		}
	}
	switch kind {
	case "message_start":
		a.begin(content)
	case "content_block_start":
		take(a.Begin(index), content, emit)
	case "content_block_delta":
		if b := a.At(index); b != nil {
			take(b, content, emit)
		}
	case "message_delta":
		a.stop = content.Member("stop_reason").Text()
		a.count(event.Member("usage"))
	case "message_stop":
		a.ended = true
	case "message": // an answer that is not streamed
		a.begin(event)
		a.stop = event.Member("stop_reason").Text()
		for v := range event.Member("content").Items() {
			take(a.Begin(index), v, emit)
		}
	}
}

func (a *answer) begin(message wire.Value) {
	a.model = message.Member("model").Text()
	a.count(message.Member("usage"))
}

// take applies a block at its beginning, which tells its type, or a piece of it.
func take(b *wire.Block, v wire.Value, emit wire.EmitFunc) {
	if b.Kind == "" {
		b.Kind = v.Member("type").Text()
		b.Call = b.Kind == "tool_use"
		b.ID = v.Member("id").Text()
	}
	for name, member := range v.Members() {
		switch {
		case name == "text" && b.Kind == "text":
			b.Take(&b.Text, member.Text(), emit)
		case name == "thinking" && b.Kind == "thinking":
			b.Take(&b.Thinking, member.Text(), emit)
		case name == "signature" && b.Kind == "thinking":
			b.Take(&b.Signature, member.Text(), emit)
		case name == "data" && b.Kind == "redacted_thinking":
			b.Take(&b.Redacted, member.Text(), emit)
		case name == "partial_json" && b.Call:
			b.Take(&b.Args, member.Text(), emit)
		case name == "name" && b.Call:
			b.Name = member.Text()
			emit(chela.Chunk{Unseen: len(b.Name)})
		case name == "input" && b.Call:
			b.Input = member.Text()
		}
	}
}

// count applies the totals, of which some come at the beginning and others at the
// end of a stream.
func (a *answer) count(usage wire.Value) {
	for name, v := range usage.Members() {
		at := map[string]*int64{
			"input_tokens": &a.usage.Input, "output_tokens": &a.usage.Output, "output_tokens_details": &a.usage.Reasoning,
			"cache_read_input_tokens": &a.usage.CacheRead, "cache_creation_input_tokens": &a.usage.CacheWrite,
		}[name]
		if v.IsObject() {
			v = v.Member("thinking_tokens")
		}
		if at != nil && string(v) != "null" {
			*at = max(v.Int(), 0)
		}
	}
}

// Progress returns how much has arrived. An answer is complete once the stop reason
// arrived.
func (a *answer) Progress() wire.Progress { return wire.ProgressOf(a.stop != "", a.ended) }

// Finish returns the finish of the answer.
func (a *answer) Finish(wire.EmitFunc) (*chela.Finish, error) {
	return a.Blocks.Finish(&chela.Finish{Model: a.model, Usage: a.usage}, kind, stops[a.stop]), nil
}

// stops maps stop_reason, unless it follows from the calls. A pause_turn, which only
// the provider's own tools cause, counts as an end, since none are requested.
var stops = map[string]chela.StopReason{
	"max_tokens": chela.StopLength, "model_context_window_exceeded": chela.StopLength, "refusal": chela.StopRefusal,
}

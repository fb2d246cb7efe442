package responses

import (
	"strings"

	"chela"
	"chela/internal/model/provider/openai"
	"chela/internal/model/provider/wire"
)

// An answer accumulates the events of a stream, or an unstreamed response.
type answer struct {
	items   []*item // in order
	at      map[int64]*item
	model   string
	status  string     // final status: completed, incomplete, failed or error
	reason  string     // reason of an incomplete response
	problem wire.Value // the error, if any
	usage   chela.TokenUsage
	refused bool
}

// An item is one part of an answer: a message, a call, or reasoning.
type item struct {
	kind      string
	id        string // of reasoning
	ref, name string // of a call
	encrypted string // encrypted reasoning
	phase     string // of a message
	text      strings.Builder
	parts     int // parts of a summary so far
}

// add applies an event and reports whether to continue. Events of unknown types
// are ignored.
func (a *answer) add(event wire.Value, emit func(chela.Chunk) bool) bool {
	var e struct {
		kind, delta string
		index       int64
		item        wire.Value
		response    wire.Value
	}
	for name, v := range event.Members() {
		switch name {
		case "type":
			e.kind = v.Text()
		case "delta":
			e.delta = v.Text()
		case "output_index":
			e.index = v.Int()
		case "item":
			e.item = v
		case "response":
			e.response = v
		}
	}
	switch e.kind {
	case "response.output_item.added":
		return emit(chela.Chunk{Unseen: len(a.begin(e.index, e.item).name)})
	case "response.output_item.done":
		return a.complete(e.index, e.item, emit)
	case "response.output_text.delta", "response.refusal.delta":
		a.refused = a.refused || e.kind == "response.refusal.delta"
		return a.grow(e.index, "message", e.delta, emit)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return a.grow(e.index, "reasoning", e.delta, emit)
	case "response.function_call_arguments.delta":
		return a.grow(e.index, "function_call", e.delta, emit)
	case "response.reasoning_summary_part.added":
		return a.part(e.index, emit)
	case "response.completed", "response.incomplete", "response.failed":
		more := a.end(e.response, emit)
		a.status = strings.TrimPrefix(e.kind, "response.")
		return more
	case "error":
		a.status, a.problem = e.kind, event
	}
	return true
}

// begin returns the item at an index, created if necessary, and applies the
// fields of v.
func (a *answer) begin(index int64, v wire.Value) *item {
	it := a.at[index]
	if it == nil {
		it = &item{}
		a.at[index] = it
		a.items = append(a.items, it)
	}
	for name, member := range v.Members() {
		switch name {
		case "type":
			it.kind = member.Text()
		case "id":
			it.id = member.Text()
		case "call_id":
			it.ref = member.Text()
		case "name":
			it.name = member.Text()
		case "encrypted_content":
			it.encrypted = member.Text()
		case "phase":
			it.phase = member.Text()
		}
	}
	return it
}

// grow appends to an item and reports whether to continue. It accepts servers
// that send content before the item's type.
func (a *answer) grow(index int64, kind, piece string, emit func(chela.Chunk) bool) bool {
	it := a.begin(index, nil)
	if it.kind == "" {
		it.kind = kind
	}
	if it.kind != kind {
		return true // a server-side tool that was not requested
	}
	it.text.WriteString(piece)
	switch kind {
	case "message":
		return emit(chela.Chunk{Text: piece})
	case "reasoning":
		return emit(chela.Chunk{Thinking: piece})
	default:
		return emit(chela.Chunk{Unseen: len(piece)})
	}
}

// part begins a further part of a summary, after an empty line.
func (a *answer) part(index int64, emit func(chela.Chunk) bool) bool {
	it := a.begin(index, nil)
	it.parts++
	if it.parts == 1 {
		return true
	}
	return a.grow(index, "reasoning", "\n\n", emit)
}

// complete applies the final form of an item. Its content is emitted unless it
// was already streamed.
func (a *answer) complete(index int64, v wire.Value, emit func(chela.Chunk) bool) bool {
	it := a.begin(index, v)
	if !emit(chela.Chunk{Unseen: len(it.encrypted)}) {
		return false
	}
	if it.text.Len() > 0 {
		return true
	}
	for name, member := range v.Members() {
		switch name {
		case "arguments":
			if !a.grow(index, "function_call", member.Text(), emit) {
				return false
			}
		case "content", "summary":
			for part := range member.Items() {
				if !a.say(index, part, emit) {
					return false
				}
			}
		}
	}
	return true
}

// say emits a part of a message or of reasoning that was not streamed.
func (a *answer) say(index int64, part wire.Value, emit func(chela.Chunk) bool) bool {
	var kind, text string
	for name, v := range part.Members() {
		switch name {
		case "type":
			kind = v.Text()
		case "text", "refusal":
			text = v.Text()
		}
	}
	switch kind {
	case "output_text", "refusal":
		a.refused = a.refused || kind == "refusal"
		return a.grow(index, "message", text, emit)
	case "summary_text", "reasoning_text":
		return a.part(index, emit) && a.grow(index, "reasoning", text, emit)
	default:
		return true
	}
}

// end applies the final response: its status, and its items if none were
// streamed.
func (a *answer) end(response wire.Value, emit func(chela.Chunk) bool) bool {
	var output wire.Value
	for name, v := range response.Members() {
		switch name {
		case "status":
			a.status = v.Text()
		case "model":
			a.model = v.Text()
		case "error":
			if v.IsObject() {
				a.problem = v
			}
		case "incomplete_details":
			for name, detail := range v.Members() {
				if name == "reason" {
					a.reason = detail.Text()
				}
			}
		case "usage":
			a.usage = usage(v)
		case "output":
			output = v
		}
	}
	if len(a.items) > 0 {
		return true
	}
	index := int64(0)
	for v := range output.Items() {
		if !a.complete(index, v, emit) {
			return false
		}
		index++
	}
	return true
}

// usage reads the token counts. input_tokens includes tokens read from or
// written to the cache.
func usage(v wire.Value) chela.TokenUsage {
	var u chela.TokenUsage
	var input int64
	for name, member := range v.Members() {
		switch name {
		case "input_tokens":
			input = member.Int()
		case "output_tokens":
			u.Output = max(member.Int(), 0)
		case "input_tokens_details", "output_tokens_details":
			openai.ReadDetails(&u, member)
		}
	}
	u.Input = max(input-u.CacheRead-u.CacheWrite, 0)
	return u
}

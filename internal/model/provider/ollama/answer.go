package ollama

import (
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// An answer accumulates the lines of a stream. It is the Answer
// of a [wire.Request].
type answer struct {
	p              *Provider
	room           int // context tokens that the server allocated
	text, thinking strings.Builder
	calls          []chela.CallSpec
	model          string
	done           bool
	reason         string // done_reason
	usage          chela.TokenUsage
}

// Add applies an event, or a whole answer. Older servers send no ids of calls.
func (a *answer) Add(v wire.Value, emit wire.EmitFunc) {
	var said wire.Value
	for name, member := range v.Members() {
		switch name {
		case "model":
			a.model = member.Text()
		case "message":
			said = member
		case "done":
			a.done = member.Text() == "true"
		case "done_reason":
			a.reason = member.Text()
		case "prompt_eval_count":
			a.usage.Input = max(member.Int(), 0)
		case "eval_count":
			a.usage.Output = max(member.Int(), 0)
		}
	}
	text, thinking := said.Member("content").Text(), said.Member("thinking").Text()
	unseen := 0
	for call := range said.Member("tool_calls").Items() {
		f := call.Member("function")
		made := wire.Call(call.Member("id").Text(), f.Member("name").Text(), f.Member("arguments").Text())
		a.calls = append(a.calls, made)
		unseen += made.Written()
	}
	a.thinking.WriteString(thinking)
	a.text.WriteString(text)
	emit(chela.Chunk{Thinking: thinking})
	emit(chela.Chunk{Text: text})
	emit(chela.Chunk{Unseen: unseen})
}

// Progress returns how much has arrived.
func (a *answer) Progress() wire.Progress { return wire.ProgressOf(a.done, true) }

// Finish returns the finish of the answer. Servers from before 2025-12 ignore
// truncate=false; a prompt that fills the whole context shows that they cut it.
func (a *answer) Finish(wire.EmitFunc) (*chela.Finish, error) {
	if a.room > 0 && a.usage.Input >= int64(a.room) {
		e := a.p.server.Error(chela.Invalid, "the prompt did not fit and was truncated by the server")
		e.Overflow = true
		return nil, e
	}
	f := &chela.Finish{Text: a.text.String(), Model: a.model, Usage: a.usage, Calls: a.calls}
	if a.thinking.Len() > 0 {
		f.Thinking = []chela.Thinking{{Text: a.thinking.String(), Provider: kind}}
	}
	told := map[string]chela.StopReason{"length": chela.StopLength}[a.reason]
	return wire.Finish(f, told), nil
}

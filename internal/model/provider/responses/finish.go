package responses

import (
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// whole returns the finish of a completed answer, or its error.
func (p *Provider) whole(a *answer) (*chela.Finish, error) {
	switch {
	case a.problem != nil:
		return nil, p.guard.Broke(a.problem)
	case a.status != "completed" && a.status != "incomplete":
		return nil, p.guard.Unreadable("sent an answer that is not a complete response")
	}
	f := &chela.Finish{Model: a.model, Usage: a.usage}
	var said strings.Builder
	phase := ""
	for _, it := range a.items {
		switch it.kind {
		case "message":
			said.WriteString(it.text.String())
			phase = it.phase
		case "function_call":
			f.Calls = append(f.Calls, wire.Call(it.ref, it.name, it.text.String()))
		case "reasoning":
			f.Thinking = append(f.Thinking, chela.Thinking{
				Text: it.text.String(), Provider: kind,
				Signature: p.sign(seal{ID: it.id, Encrypted: it.encrypted, Calls: len(f.Calls), Said: said.Len() > 0}),
			})
		}
	}
	if phase != "" {
		f.Thinking = append(f.Thinking, chela.Thinking{Provider: kind, Signature: p.sign(seal{Phase: phase})})
	}
	f.Text = said.String()
	f.Calls = wire.Calls(f.Calls)
	f.Stop = stop(a, len(f.Calls) > 0)
	return f, nil
}

// stop maps the status and the reason of an incomplete response.
func stop(a *answer, calls bool) chela.StopReason {
	switch {
	case a.reason == "max_output_tokens":
		return chela.StopLength
	case a.reason == "content_filter":
		return chela.StopRefusal
	case calls:
		return chela.StopCalls
	case a.refused:
		return chela.StopRefusal
	default:
		return chela.StopEnd
	}
}

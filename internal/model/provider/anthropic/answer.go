package anthropic

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"chela"
	"chela/internal/model/provider/wire"
)

// An answer accumulates the events of a stream.
type answer struct {
	blocks []*piece // in their order
	at     map[int64]*piece
	model  string
	stop   anthropic.StopReason // set once it arrived
	ended  bool
	usage  chela.TokenUsage
}

// A piece is one block of an answer.
type piece struct {
	kind      string
	id, name  string          // of a call
	input     string          // of a call, if it came with the first event
	text      strings.Builder // text, thinking (readable or encrypted), or arguments
	signature strings.Builder
}

// readStream reads a streamed answer. It is complete once the stop reason
// arrived.
func (p *Provider) readStream(ctx context.Context, res *http.Response, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	events := ssestream.NewDecoder(res)
	a := answer{at: map[int64]*piece{}}
	for !a.ended && events.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		raw := events.Event().Data
		if len(raw) == 0 {
			continue
		}
		if told, ok := p.guard.Told(raw); ok {
			return nil, told
		}
		var event anthropic.MessageStreamEventUnion
		if !json.Valid(raw) || json.Unmarshal(raw, &event) != nil {
			return nil, p.guard.Unreadable("sent an event that is not JSON")
		}
		if !emit(a.add(event)) {
			return nil, nil
		}
	}
	if a.stop == "" {
		return nil, p.guard.Cut(ctx, events.Err())
	}
	return a.finish(), nil
}

// add applies an event and returns the chunk for it. Events of unknown types,
// such as ping, are ignored.
func (a *answer) add(e anthropic.MessageStreamEventUnion) chela.Chunk {
	switch e.Type {
	case "message_start":
		a.model = string(e.Message.Model)
		a.usage = usage(e.Message.Usage)
	case "content_block_start":
		b := e.ContentBlock
		made := &piece{kind: b.Type, id: b.ID, name: b.Name, input: b.JSON.Input.Raw()}
		a.blocks = append(a.blocks, made)
		a.at[e.Index] = made
		made.signature.WriteString(b.Signature)
		return made.grow(b.Text+b.Thinking+b.Data, len(b.Name)+len(b.Signature))
	case "content_block_delta":
		if b := a.at[e.Index]; b != nil {
			b.signature.WriteString(e.Delta.Signature)
			return b.grow(e.Delta.Text+e.Delta.Thinking+e.Delta.PartialJSON, len(e.Delta.Signature))
		}
	case "message_delta":
		a.stop = e.Delta.StopReason
		a.count(e.Usage)
	case "message_stop":
		a.ended = true
	}
	return chela.Chunk{}
}

// grow appends text to a block and returns the chunk to show, or else the
// number of bytes received, including beside bytes outside of the text.
func (b *piece) grow(text string, beside int) chela.Chunk {
	b.text.WriteString(text)
	switch {
	case text != "" && b.kind == "text":
		return chela.Chunk{Text: text}
	case text != "" && b.kind == "thinking":
		return chela.Chunk{Thinking: text}
	default:
		return chela.Chunk{Unseen: len(text) + beside}
	}
}

// count applies the totals at the end of the stream. Totals that are missing
// there came at the beginning.
func (a *answer) count(u anthropic.MessageDeltaUsage) {
	set := func(at *int64, told bool, n int64) {
		if told {
			*at = max(n, 0)
		}
	}
	set(&a.usage.Input, u.JSON.InputTokens.Valid(), u.InputTokens)
	set(&a.usage.Output, u.JSON.OutputTokens.Valid(), u.OutputTokens)
	set(&a.usage.CacheRead, u.JSON.CacheReadInputTokens.Valid(), u.CacheReadInputTokens)
	set(&a.usage.CacheWrite, u.JSON.CacheCreationInputTokens.Valid(), u.CacheCreationInputTokens)
	set(&a.usage.Reasoning, u.JSON.OutputTokensDetails.Valid(), u.OutputTokensDetails.ThinkingTokens)
}

func usage(u anthropic.Usage) chela.TokenUsage {
	return chela.TokenUsage{
		Input:      max(u.InputTokens, 0),
		Output:     max(u.OutputTokens, 0),
		CacheRead:  max(u.CacheReadInputTokens, 0),
		CacheWrite: max(u.CacheCreationInputTokens, 0),
		Reasoning:  max(u.OutputTokensDetails.ThinkingTokens, 0),
	}
}

// readPlain reads an answer that is not streamed.
func (p *Provider) readPlain(ctx context.Context, res *http.Response, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, p.guard.Cut(ctx, err)
	}
	if told, ok := p.guard.Told(raw); ok {
		return nil, told
	}
	var whole anthropic.Message
	if !json.Valid(raw) || json.Unmarshal(raw, &whole) != nil || whole.StopReason == "" {
		return nil, p.guard.Unreadable("sent an answer that is not a message")
	}
	a := answer{model: string(whole.Model), stop: whole.StopReason, usage: usage(whole.Usage)}
	for _, b := range whole.Content {
		made := &piece{kind: b.Type, id: b.ID, name: b.Name, input: string(b.Input)}
		made.signature.WriteString(b.Signature)
		a.blocks = append(a.blocks, made)
		if !emit(made.grow(b.Text+b.Thinking+b.Data, len(b.Name)+len(b.Input)+len(b.Signature))) {
			return nil, nil
		}
	}
	return a.finish(), nil
}

// finish returns the complete answer.
func (a *answer) finish() *chela.Finish {
	f := &chela.Finish{Model: a.model, Usage: a.usage}
	var said strings.Builder
	for _, b := range a.blocks {
		switch b.kind {
		case "text":
			said.WriteString(b.text.String())
		case "thinking":
			f.Thinking = append(f.Thinking, chela.Thinking{Text: b.text.String(), Signature: b.signature.String(), Provider: kind})
		case "redacted_thinking":
			f.Thinking = append(f.Thinking, chela.Thinking{Redacted: b.text.String(), Provider: kind})
		case "tool_use":
			args := b.text.String()
			if args == "" {
				args = b.input
			}
			f.Calls = append(f.Calls, wire.Call(b.id, b.name, args))
		}
	}
	f.Text = said.String()
	f.Calls = wire.Calls(f.Calls)
	f.Stop = stop(a.stop, len(f.Calls) > 0)
	return f
}

// stop maps stop_reason. A pause_turn, which only the provider's own tools
// cause, counts as an end, since none are requested.
func stop(reason anthropic.StopReason, calls bool) chela.StopReason {
	switch {
	case reason == anthropic.StopReasonMaxTokens, reason == anthropic.StopReasonModelContextWindowExceeded:
		return chela.StopLength
	case reason == anthropic.StopReasonRefusal:
		return chela.StopRefusal
	case calls:
		return chela.StopCalls
	default:
		return chela.StopEnd
	}
}

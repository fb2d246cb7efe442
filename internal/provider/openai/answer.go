package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"chela"
	"chela/internal/provider/wire"
)

// kind marks the thinking that this protocol brings.
const kind = "openai"

// An answer is put together from the pieces of a stream.
type answer struct {
	text, thinking strings.Builder
	calls          []*call
	at             map[int64]*call // by the index that the server gives
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
	events := ssestream.NewDecoder(res)
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
		if told, ok := p.guard.Told(raw); ok {
			return nil, told
		}
		var chunk openai.ChatCompletionChunk
		if !json.Valid(raw) || json.Unmarshal(raw, &chunk) != nil {
			return nil, p.guard.Unreadable("sent an event that is not JSON")
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
func (a *answer) add(chunk openai.ChatCompletionChunk, emit func(chela.Chunk) bool) bool {
	a.model = cmp.Or(a.model, chunk.Model)
	if chunk.JSON.Usage.Valid() {
		a.usage = usage(chunk.Usage)
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue // one was asked for
		}
		d := choice.Delta
		a.finish = cmp.Or(choice.FinishReason, a.finish)
		a.refused = a.refused || d.Refusal != ""
		for _, c := range d.ToolCalls {
			a.call(c.Index, c.ID, c.Function.Name).args.WriteString(c.Function.Arguments)
		}
		thinking, text := reasoning(d.JSON.ExtraFields), d.Content+d.Refusal
		a.thinking.WriteString(thinking)
		a.text.WriteString(text)
		if !emit(chela.Chunk{Thinking: thinking}) || !emit(chela.Chunk{Text: text}) {
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
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, p.guard.Cut(ctx, err)
	}
	var whole openai.ChatCompletion
	if !json.Valid(raw) || json.Unmarshal(raw, &whole) != nil {
		return nil, p.guard.Unreadable("sent an answer that is not JSON")
	}
	if len(whole.Choices) == 0 {
		if told, ok := p.guard.Told(raw); ok {
			return nil, told
		}
		return nil, p.guard.Unreadable("sent an answer without choices")
	}
	m := whole.Choices[0].Message
	a := answer{
		refused: m.Refusal != "",
		finish:  whole.Choices[0].FinishReason,
		model:   whole.Model,
		usage:   usage(whole.Usage),
	}
	a.thinking.WriteString(reasoning(m.JSON.ExtraFields))
	a.text.WriteString(m.Content + m.Refusal)
	for _, c := range m.ToolCalls {
		made := &call{id: c.ID, name: c.Function.Name}
		made.args.WriteString(c.Function.Arguments)
		a.calls = append(a.calls, made)
	}
	if !emit(chela.Chunk{Thinking: a.thinking.String()}) || !emit(chela.Chunk{Text: a.text.String()}) {
		return nil, nil
	}
	return p.whole(&a)
}

// whole returns the finish of a complete answer.
func (p *Provider) whole(a *answer) (*chela.Finish, error) {
	if a.finish == "error" {
		// OpenRouter reports so that the model's own server broke off.
		return nil, p.guard.Unreadable("the model's server broke off")
	}
	f := &chela.Finish{Text: a.text.String(), Model: a.model, Usage: a.usage}
	if a.thinking.Len() > 0 {
		f.Thinking = []chela.Thinking{{Text: a.thinking.String(), Provider: kind}}
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

// reasoning returns what servers that show the reasoning of their models put
// beside the content: reasoning_content (DeepSeek, vLLM, llama.cpp) or
// reasoning (OpenRouter, Groq, Ollama).
func reasoning(extra map[string]respjson.Field) string {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		var text string
		if json.Unmarshal([]byte(extra[name].Raw()), &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// usage counts tokens. prompt_tokens includes what came from or went to a
// cache.
func usage(u openai.CompletionUsage) chela.TokenUsage {
	read := max(u.PromptTokensDetails.CachedTokens, 0)
	written := max(u.PromptTokensDetails.CacheWriteTokens, 0)
	return chela.TokenUsage{
		Input:      max(u.PromptTokens-read-written, 0),
		Output:     max(u.CompletionTokens, 0),
		CacheRead:  read,
		CacheWrite: written,
		Reasoning:  max(u.CompletionTokensDetails.ReasoningTokens, 0),
	}
}

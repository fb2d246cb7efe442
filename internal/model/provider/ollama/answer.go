package ollama

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"chela"
	"chela/internal/model/provider/wire"
)

// An answer accumulates the lines of a stream.
type answer struct {
	room           int // context tokens that the server allocated
	text, thinking strings.Builder
	calls          []chela.CallSpec
	model          string
	done           bool
	reason         string // done_reason
	usage          chela.TokenUsage
}

// readStream reads a streamed answer, one JSON object per line. It is complete
// once a line has done set.
func (p *Provider) readStream(ctx context.Context, body io.Reader, a *answer, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	lines := bufio.NewReader(body)
	for !a.done {
		line, broke := lines.ReadBytes('\n')
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			v, ok := wire.Object(line)
			if !ok && broke == nil {
				return nil, p.guard.Unreadable("sent a line that is not JSON")
			}
			if told, is := p.guard.Told(line); is && ok {
				return nil, told
			}
			if ok && !a.add(v, emit) {
				return nil, nil
			}
		}
		if broke != nil && !a.done {
			return nil, p.guard.Cut(ctx, unless(broke, io.EOF))
		}
	}
	return p.whole(a)
}

// unless returns err, or nil if it is quiet.
func unless(err, quiet error) error {
	if errors.Is(err, quiet) {
		return nil
	}
	return err
}

// readPlain reads an answer that is not streamed.
func (p *Provider) readPlain(ctx context.Context, body io.Reader, a *answer, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	v, err := p.guard.ReadObject(ctx, body)
	if err != nil {
		return nil, err
	}
	if told, ok := p.guard.Told(v); ok {
		return nil, told
	}
	if !a.add(v, emit) {
		return nil, nil
	}
	if !a.done {
		return nil, p.guard.Unreadable("sent an incomplete answer")
	}
	return p.whole(a)
}

// add applies a piece and reports whether to continue.
func (a *answer) add(v wire.Value, emit func(chela.Chunk) bool) bool {
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
	var text, thinking string
	unseen := 0
	for name, member := range said.Members() {
		switch name {
		case "content":
			text = member.Text()
		case "thinking":
			thinking = member.Text()
		case "tool_calls":
			for item := range member.Items() {
				made := readCall(item)
				a.calls = append(a.calls, made)
				unseen += made.Written()
			}
		}
	}
	a.thinking.WriteString(thinking)
	a.text.WriteString(text)
	return emit(chela.Chunk{Thinking: thinking}) && emit(chela.Chunk{Text: text}) && emit(chela.Chunk{Unseen: unseen})
}

// readCall reads a call. Older servers send no ids.
func readCall(v wire.Value) chela.CallSpec {
	var id, tool, args string
	for name, member := range v.Members() {
		switch name {
		case "id":
			id = member.Text()
		case "function":
			for name, member := range member.Members() {
				switch name {
				case "name":
					tool = member.Text()
				case "arguments":
					args = member.Text()
				}
			}
		}
	}
	return wire.Call(id, tool, args)
}

// whole returns the finish of a complete answer. Servers from before 2025-12
// ignore truncate=false; a prompt that fills the whole context shows that they
// cut it.
func (p *Provider) whole(a *answer) (*chela.Finish, error) {
	if a.room > 0 && a.usage.Input >= int64(a.room) {
		e := p.guard.Error(chela.Invalid, "the prompt did not fit and was truncated by the server")
		e.Overflow = true
		return nil, e
	}
	f := &chela.Finish{Text: a.text.String(), Model: a.model, Usage: a.usage, Calls: wire.Calls(a.calls), Stop: chela.StopEnd}
	if a.thinking.Len() > 0 {
		f.Thinking = []chela.Thinking{{Text: a.thinking.String(), Provider: kind}}
	}
	switch {
	case a.reason == "length":
		f.Stop = chela.StopLength
	case len(f.Calls) > 0:
		f.Stop = chela.StopCalls
	}
	return f, nil
}

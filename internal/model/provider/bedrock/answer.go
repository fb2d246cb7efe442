package bedrock

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"chela"
	"chela/internal/model/provider/wire"
)

// An answer accumulates the events of a stream.
type answer struct {
	blocks []*piece // in their order
	at     map[int64]*piece
	stop   string // stopReason, once it arrived
	ended  bool
	usage  chela.TokenUsage
}

// A piece is one block of an answer.
type piece struct {
	call      bool
	id, name  string          // of a call
	text      strings.Builder // text, or the arguments of a call
	thinking  strings.Builder
	signature strings.Builder
	redacted  strings.Builder // encrypted thinking, in base64
}

// maxFrame bounds an event of a stream, in bytes; each event carries its own
// length.
const maxFrame = 8 << 20

// readStream reads a streamed answer. It is complete once the stop reason
// arrived; the usage follows in one more event.
func (p *Provider) readStream(ctx context.Context, body io.Reader, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	frames, in := eventstream.NewDecoder(), &io.LimitedReader{R: bufio.NewReader(body)}
	a := answer{at: map[int64]*piece{}}
	var buf []byte
	for !a.ended {
		in.N = maxFrame
		frame, err := frames.Decode(in, buf[:0])
		if ctxErr := ctx.Err(); ctxErr != nil {
			return nil, ctxErr
		}
		if in.N == 0 {
			return nil, p.guard.Error(chela.Unavailable, "sent an event that is too long")
		}
		if errors.Is(err, io.EOF) && a.stop != "" {
			break
		}
		if err != nil {
			return nil, p.broken(ctx, err)
		}
		buf = frame.Payload
		told, ok := wire.Object(frame.Payload)
		if !ok {
			return nil, p.guard.Unreadable("sent an event that is not JSON")
		}
		if err := p.trouble(frame, told); err != nil {
			return nil, err
		}
		if !emit(a.add(header(frame, ":event-type"), told)) {
			return nil, nil
		}
	}
	return a.finish(), nil
}

// broken returns the error for a stream that can no longer be read.
func (p *Provider) broken(ctx context.Context, err error) error {
	var length eventstream.LengthError
	var sum eventstream.ChecksumError
	switch {
	case errors.As(err, &length), errors.As(err, &sum):
		return p.guard.Unreadable("sent a broken frame: " + err.Error())
	case errors.Is(err, io.EOF):
		return p.guard.Cut(ctx, nil)
	default:
		return p.guard.Cut(ctx, err)
	}
}

// trouble returns the error that a frame reports; nil if it reports none.
func (p *Provider) trouble(frame eventstream.Message, told wire.Value) error {
	switch header(frame, ":message-type") {
	case "exception":
		label := header(frame, ":exception-type")
		if label != "" {
			label = strings.ToUpper(label[:1]) + label[1:]
		}
		return p.broke(label, member(told, "message").Text())
	case "error":
		return p.broke(header(frame, ":error-code"), header(frame, ":error-message"))
	default:
		return nil
	}
}

// broke classifies an error that ended an answer.
func (p *Provider) broke(label, message string) error {
	body, err := json.Marshal(map[string]string{"code": label, "message": message})
	if err != nil { // strings always encode
		return p.guard.Unreadable(message)
	}
	return p.guard.Broke(body)
}

// header returns the text of a frame's header; empty if absent.
func header(frame eventstream.Message, name string) string {
	text, ok := frame.Headers.Get(name).(eventstream.StringValue)
	if !ok {
		return ""
	}
	return string(text)
}

// add applies an event and returns the chunk for it. Events of unknown types
// are ignored.
func (a *answer) add(event string, v wire.Value) chela.Chunk {
	index := member(v, "contentBlockIndex").Int()
	switch event {
	case "contentBlockStart":
		if use := member(member(v, "start"), "toolUse"); use.IsObject() {
			delete(a.at, index)
			b := a.piece(index)
			b.call, b.id, b.name = true, member(use, "toolUseId").Text(), member(use, "name").Text()
			return chela.Chunk{Unseen: len(b.name)}
		}
	case "contentBlockDelta":
		return a.piece(index).grow(member(v, "delta"))
	case "messageStop":
		a.stop = member(v, "stopReason").Text()
	case "metadata":
		a.usage = usage(member(v, "usage"))
		a.ended = a.stop != ""
	}
	return chela.Chunk{}
}

// piece returns the block at an index. Text blocks have no start event.
func (a *answer) piece(index int64) *piece {
	b := a.at[index]
	if b == nil {
		b = &piece{}
		a.at[index] = b
		a.blocks = append(a.blocks, b)
	}
	return b
}

// grow appends to a block and returns the chunk to show, or else the number of
// bytes received.
func (b *piece) grow(delta wire.Value) chela.Chunk {
	for name, v := range delta.Members() {
		switch {
		case b.call:
			input := member(v, "input").Text()
			b.text.WriteString(input)
			return chela.Chunk{Unseen: len(input)}
		case name == "text":
			b.text.WriteString(v.Text())
			return chela.Chunk{Text: v.Text()}
		case name == "reasoningContent":
			text, signature, redacted := member(v, "text").Text(), member(v, "signature").Text(), member(v, "redactedContent").Text()
			b.signature.WriteString(signature)
			b.redacted.WriteString(redacted)
			b.thinking.WriteString(text)
			if text == "" {
				return chela.Chunk{Unseen: len(signature) + len(redacted)}
			}
			return chela.Chunk{Thinking: text}
		}
	}
	return chela.Chunk{}
}

// usage reads the token counts. inputTokens excludes tokens read from or
// written to the cache.
func usage(v wire.Value) chela.TokenUsage {
	count := func(name string) int64 { return max(member(v, name).Int(), 0) }
	return chela.TokenUsage{
		Input: count("inputTokens"), Output: count("outputTokens"),
		CacheRead: count("cacheReadInputTokens"), CacheWrite: count("cacheWriteInputTokens"),
	}
}

// readPlain reads an answer that is not streamed.
func (p *Provider) readPlain(ctx context.Context, body io.Reader, emit func(chela.Chunk) bool) (*chela.Finish, error) {
	v, err := p.guard.ReadObject(ctx, body)
	if err != nil {
		return nil, err
	}
	a := answer{stop: member(v, "stopReason").Text(), usage: usage(member(v, "usage"))}
	if a.stop == "" {
		return nil, p.guard.Unreadable("sent a response without an answer")
	}
	for item := range member(member(member(v, "output"), "message"), "content").Items() {
		b := &piece{}
		a.blocks = append(a.blocks, b)
		if !emit(b.take(item)) {
			return nil, nil
		}
	}
	return a.finish(), nil
}

// take reads a complete block and returns the chunk to show.
func (b *piece) take(item wire.Value) chela.Chunk {
	if use := member(item, "toolUse"); use.IsObject() {
		b.call, b.id, b.name = true, member(use, "toolUseId").Text(), member(use, "name").Text()
		b.text.WriteString(member(use, "input").Text())
		return chela.Chunk{}
	}
	thought := member(item, "reasoningContent")
	b.redacted.WriteString(member(thought, "redactedContent").Text())
	told := member(thought, "reasoningText")
	b.signature.WriteString(member(told, "signature").Text())
	b.thinking.WriteString(member(told, "text").Text())
	if !told.IsObject() {
		b.text.WriteString(member(item, "text").Text())
	}
	return chela.Chunk{Text: b.text.String(), Thinking: b.thinking.String()}
}

// finish returns the complete answer.
func (a *answer) finish() *chela.Finish {
	f := &chela.Finish{Usage: a.usage}
	var said strings.Builder
	for _, b := range a.blocks {
		if b.call {
			f.Calls = append(f.Calls, wire.Call(b.id, b.name, b.text.String()))
			continue
		}
		if b.redacted.Len() > 0 {
			f.Thinking = append(f.Thinking, chela.Thinking{Redacted: b.redacted.String(), Provider: kind})
		}
		if b.thinking.Len() > 0 || b.signature.Len() > 0 {
			f.Thinking = append(f.Thinking, chela.Thinking{Text: b.thinking.String(), Signature: b.signature.String(), Provider: kind})
		}
		said.WriteString(b.text.String())
	}
	f.Text = said.String()
	f.Calls = wire.Calls(f.Calls)
	f.Stop = stop(a.stop, len(f.Calls) > 0)
	return f
}

// stop maps stopReason; see
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html.
func stop(reason string, calls bool) chela.StopReason {
	switch {
	case reason == "max_tokens", reason == "model_context_window_exceeded":
		return chela.StopLength
	case reason == "guardrail_intervened", reason == "content_filtered", reason == "refusal":
		return chela.StopRefusal
	case calls:
		return chela.StopCalls
	default:
		return chela.StopEnd
	}
}
